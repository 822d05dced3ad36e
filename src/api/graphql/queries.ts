import { listApiKeys } from "../../operations/api-keys/list-api-keys.ts";
import { checkEntitlement } from "../../operations/entitlements/check-entitlement.ts";
import { showEntitlements } from "../../operations/entitlements/show-entitlements.ts";
import { listNotifications } from "../../operations/notifications/list-notifications.ts";
import { unreadCount } from "../../operations/notifications/unread-count.ts";
import { listPayments } from "../../operations/payments/list-payments.ts";
import { listPaymentsOfUser } from "../../operations/payments/list-payments-of-user.ts";
import { listFeatures } from "../../operations/plans/list-features.ts";
import { listPlans } from "../../operations/plans/list-plans.ts";
import { listServiceKeys } from "../../operations/service-keys/list-service-keys.ts";
import { currentSubscription } from "../../operations/subscriptions/current-subscription.ts";
import { listSubscriptions } from "../../operations/subscriptions/list-subscriptions.ts";
import { showSubscription } from "../../operations/subscriptions/show-subscription.ts";
import { listUsers } from "../../operations/users/list-users.ts";
import { showProfile } from "../../operations/users/show-profile.ts";
import { listDeliveries } from "../../operations/webhooks/list-deliveries.ts";
import { showDelivery } from "../../operations/webhooks/show-delivery.ts";
import { builder, callOperation, withoutNulls } from "./builder.ts";
import { DeliveryStatusEnum, LocaleEnum, PaymentStatusEnum, SlotEnum } from "./enums.ts";
import { namedUser } from "./named-user.ts";
import * as pages from "./pages.ts";
import { DeliveryInDetail } from "./types/delivery.ts";
import { EntitlementCheck, Entitlements } from "./types/entitlements.ts";
import { Feature } from "./types/plan.ts";
import { Subscription } from "./types/subscription.ts";
import { User } from "./types/user.ts";

const page = builder.args((t) => ({
  limit: t.int({ required: true, defaultValue: 20, description: "Page size, 1 to 100." }),
  cursor: t.string({ description: "The nextCursor of the previous page; omit it for the first page." }),
}));

const { locale } = builder.args((t) => ({
  locale: t.field({
    type: LocaleEnum,
    description: "The language of the texts; defaults to Accept-Language.",
  }),
}));

// Every field is nullable: a refused field must not discard the other results.
builder.queryType({
  description: "Reads, each charged to its operation's limit.",
  fields: (t) => ({
    me: t.field({
      type: User,
      nullable: true,
      extensions: { operation: showProfile },
      args: namedUser,
      resolve: (_, args, context) => callOperation(showProfile, context, withoutNulls(args)),
    }),
    users: t.field({
      type: pages.UserPage,
      nullable: true,
      extensions: { operation: listUsers },
      args: { ...page, ...namedUser },
      resolve: (_, args, context) => callOperation(listUsers, context, withoutNulls(args)),
    }),
    subscriptions: t.field({
      type: pages.SubscriptionPage,
      nullable: true,
      extensions: { operation: listSubscriptions },
      args: { ...page, ...namedUser },
      resolve: (_, args, context) => callOperation(listSubscriptions, context, withoutNulls(args)),
    }),
    subscription: t.field({
      type: Subscription,
      nullable: true,
      extensions: { operation: showSubscription },
      args: { ...namedUser, id: t.arg.id({ required: true }) },
      resolve: (_, args, context) => callOperation(showSubscription, context, withoutNulls(args)),
    }),
    currentSubscription: t.field({
      type: Subscription,
      nullable: true,
      extensions: { operation: currentSubscription },
      args: namedUser,
      resolve: (_, args, context) => callOperation(currentSubscription, context, withoutNulls(args)),
    }),
    payments: t.field({
      type: pages.PaymentPage,
      nullable: true,
      extensions: { operation: listPayments },
      args: {
        ...page,
        ...namedUser,
        status: t.arg({ type: PaymentStatusEnum }),
        subscriptionId: t.arg.id(),
      },
      resolve: (_, args, context) => callOperation(listPayments, context, withoutNulls(args)),
    }),
    userPayments: t.field({
      type: pages.PaymentPage,
      nullable: true,
      extensions: { operation: listPaymentsOfUser },
      args: {
        ...page,
        userId: t.arg.id({ required: true, description: "The user's id." }),
        status: t.arg({ type: PaymentStatusEnum }),
        subscriptionId: t.arg.id(),
      },
      resolve: (_, args, context) => callOperation(listPaymentsOfUser, context, args),
    }),
    entitlements: t.field({
      type: Entitlements,
      nullable: true,
      extensions: { operation: showEntitlements },
      args: namedUser,
      resolve: (_, args, context) => callOperation(showEntitlements, context, withoutNulls(args)),
    }),
    check: t.field({
      type: EntitlementCheck,
      nullable: true,
      extensions: { operation: checkEntitlement },
      args: {
        ...namedUser,
        feature: t.arg.string({ required: true }),
        amount: t.arg.int({
          required: true,
          defaultValue: 1,
        }),
      },
      resolve: (_, args, context) => callOperation(checkEntitlement, context, withoutNulls(args)),
    }),
    plans: t.field({
      type: pages.PlanPage,
      nullable: true,
      extensions: { operation: listPlans },
      args: { ...page, locale },
      resolve: (_, args, context) => callOperation(listPlans, context, withoutNulls(args)),
    }),
    features: t.field({
      type: [Feature],
      nullable: true,
      extensions: { operation: listFeatures, size: 20 },
      args: { locale },
      resolve: async (_, args, context) =>
        (await callOperation(listFeatures, context, withoutNulls(args))).features,
    }),
    notifications: t.field({
      type: pages.NotificationPage,
      nullable: true,
      extensions: { operation: listNotifications },
      args: page,
      resolve: (_, args, context) => callOperation(listNotifications, context, args),
    }),
    unreadCount: t.int({
      nullable: true,
      extensions: { operation: unreadCount },
      resolve: async (_, args, context) => (await callOperation(unreadCount, context, args)).count,
    }),
    apiKeys: t.field({
      type: pages.ApiKeyPage,
      nullable: true,
      extensions: { operation: listApiKeys },
      args: page,
      resolve: (_, args, context) => callOperation(listApiKeys, context, args),
    }),
    serviceKeys: t.field({
      type: pages.ServiceKeyPage,
      nullable: true,
      extensions: { operation: listServiceKeys },
      args: page,
      resolve: (_, args, context) => callOperation(listServiceKeys, context, args),
    }),
    deliveries: t.field({
      type: pages.DeliveryPage,
      nullable: true,
      extensions: { operation: listDeliveries },
      args: {
        ...page,
        provider: t.arg({ type: SlotEnum }),
        status: t.arg({ type: DeliveryStatusEnum }),
        type: t.arg.string(),
        eventId: t.arg.string(),
        subscriptionId: t.arg.id(),
      },
      resolve: (_, args, context) => callOperation(listDeliveries, context, args),
    }),
    delivery: t.field({
      type: DeliveryInDetail,
      nullable: true,
      extensions: { operation: showDelivery },
      args: { id: t.arg.id({ required: true }) },
      resolve: (_, args, context) => callOperation(showDelivery, context, args),
    }),
  }),
});
