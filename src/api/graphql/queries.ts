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
import { builder } from "./builder.ts";
import { DeliveryStatusEnum, LocaleEnum, PaymentStatusEnum, SlotEnum } from "./enums.ts";
import { namedUser } from "./named-user.ts";
import { operationField } from "./operation-field.ts";
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

builder.queryType({
  description: "Reads, each charged to its operation's limit.",
  fields: (t) => ({
    me: operationField(t, showProfile, { type: User, args: namedUser }),
    users: operationField(t, listUsers, { type: pages.UserPage, args: { ...page, ...namedUser } }),
    subscriptions: operationField(t, listSubscriptions, {
      type: pages.SubscriptionPage,
      args: { ...page, ...namedUser },
    }),
    subscription: operationField(t, showSubscription, {
      type: Subscription,
      args: { ...namedUser, id: t.arg.id({ required: true }) },
    }),
    currentSubscription: operationField(t, currentSubscription, { type: Subscription, args: namedUser }),
    payments: operationField(t, listPayments, {
      type: pages.PaymentPage,
      args: {
        ...page,
        ...namedUser,
        status: t.arg({ type: PaymentStatusEnum }),
        subscriptionId: t.arg.id(),
      },
    }),
    userPayments: operationField(t, listPaymentsOfUser, {
      type: pages.PaymentPage,
      args: {
        ...page,
        userId: t.arg.id({ required: true, description: "The user's id." }),
        status: t.arg({ type: PaymentStatusEnum }),
        subscriptionId: t.arg.id(),
      },
    }),
    entitlements: operationField(t, showEntitlements, { type: Entitlements, args: namedUser }),
    check: operationField(t, checkEntitlement, {
      type: EntitlementCheck,
      args: {
        ...namedUser,
        feature: t.arg.string({ required: true }),
        amount: t.arg.int({ required: true, defaultValue: 1 }),
      },
    }),
    plans: operationField(t, listPlans, { type: pages.PlanPage, args: { ...page, locale } }),
    features: operationField(t, listFeatures, {
      type: [Feature],
      args: { locale },
      size: 20,
      show: ({ features }) => features,
    }),
    notifications: operationField(t, listNotifications, { type: pages.NotificationPage, args: page }),
    unreadCount: operationField(t, unreadCount, { type: "Int", show: ({ count }) => count }),
    apiKeys: operationField(t, listApiKeys, { type: pages.ApiKeyPage, args: page }),
    serviceKeys: operationField(t, listServiceKeys, { type: pages.ServiceKeyPage, args: page }),
    deliveries: operationField(t, listDeliveries, {
      type: pages.DeliveryPage,
      args: {
        ...page,
        provider: t.arg({ type: SlotEnum }),
        status: t.arg({ type: DeliveryStatusEnum }),
        type: t.arg.string(),
        eventId: t.arg.string(),
        subscriptionId: t.arg.id(),
      },
    }),
    delivery: operationField(t, showDelivery, {
      type: DeliveryInDetail,
      args: { id: t.arg.id({ required: true }) },
    }),
  }),
});
