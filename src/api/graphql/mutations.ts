import type { Permission } from "../../domain/callers/permission.ts";
import { createApiKey } from "../../operations/api-keys/create-api-key.ts";
import { revokeApiKey } from "../../operations/api-keys/revoke-api-key.ts";
import { changeSubscription } from "../../operations/billing/change-subscription.ts";
import { createCheckout } from "../../operations/billing/create-checkout.ts";
import { openPortal } from "../../operations/billing/open-portal.ts";
import { ReturnUrl } from "../../operations/billing/return-url-view.ts";
import { markAllRead } from "../../operations/notifications/mark-all-read.ts";
import { markRead } from "../../operations/notifications/mark-read.ts";
import { createServiceKey } from "../../operations/service-keys/create-service-key.ts";
import { revokeServiceKey } from "../../operations/service-keys/revoke-service-key.ts";
import { rotateServiceKey } from "../../operations/service-keys/rotate-service-key.ts";
import { dismissSubscription } from "../../operations/subscriptions/dismiss-subscription.ts";
import { reconcileSubscription } from "../../operations/subscriptions/reconcile-subscription.ts";
import { changeRole } from "../../operations/users/change-role.ts";
import { completeOnboarding } from "../../operations/users/complete-onboarding.ts";
import { deleteAccount } from "../../operations/users/delete-account.ts";
import { deleteUser } from "../../operations/users/delete-user.ts";
import { setLocale } from "../../operations/users/set-locale.ts";
import { updateProfile } from "../../operations/users/update-profile.ts";
import { replayDelivery } from "../../operations/webhooks/replay-delivery.ts";
import { builder, callOperation, withoutNulls } from "./builder.ts";
import { ChangeTimeEnum, IntervalEnum, LocaleEnum, RoleEnum, SlotEnum } from "./enums.ts";
import { namedUser } from "./named-user.ts";
import { NewApiKey } from "./types/api-key.ts";
import { Replay } from "./types/delivery.ts";
import { Notification } from "./types/notification.ts";
import { NewServiceKey, RotatedServiceKey } from "./types/service-key.ts";
import { ExpectedSubscription, Subscription, SubscriptionChange } from "./types/subscription.ts";
import { PreferencesInput, User } from "./types/user.ts";

const { returnUrl } = builder.args((t) => ({
  returnUrl: t.string({ description: ReturnUrl.description ?? "" }),
}));

// Every field is nullable: a refused field must not discard the results of the fields before it.
builder.mutationType({
  description: "Changes, run one after the other, each charged to its operation's limit.",
  fields: (t) => ({
    updateProfile: t.field({
      type: User,
      nullable: true,
      extensions: { operation: updateProfile },
      args: {
        name: t.arg.string(),
        locale: t.arg({ type: LocaleEnum }),
        preferences: t.arg({ type: PreferencesInput }),
      },
      resolve: (_, args, context) => callOperation(updateProfile, context, withoutNulls(args)),
    }),
    setLocale: t.field({
      type: User,
      nullable: true,
      extensions: { operation: setLocale },
      args: {
        locale: t.arg({ type: LocaleEnum, required: true, description: "The language of pages and mail." }),
      },
      resolve: (_, args, context) => callOperation(setLocale, context, args),
    }),
    completeOnboarding: t.field({
      type: User,
      nullable: true,
      extensions: { operation: completeOnboarding },
      resolve: (_, args, context) => callOperation(completeOnboarding, context, args),
    }),
    deleteAccount: t.boolean({
      nullable: true,
      extensions: { operation: deleteAccount },
      args: { confirmation: t.arg.string({ required: true }) },
      resolve: async (_, args, context) => (await callOperation(deleteAccount, context, args)).success,
    }),
    createCheckout: t.string({
      nullable: true,
      extensions: { operation: createCheckout },
      args: {
        ...namedUser,
        planId: t.arg.id({ required: true }),
        seats: t.arg.int(),
        provider: t.arg({ type: SlotEnum }),
        interval: t.arg({ type: IntervalEnum }),
        currency: t.arg.string(),
        returnUrl,
      },
      resolve: async (_, args, context) =>
        (await callOperation(createCheckout, context, withoutNulls(args))).url,
    }),
    changeSubscription: t.field({
      type: SubscriptionChange,
      nullable: true,
      extensions: { operation: changeSubscription },
      args: {
        ...namedUser,
        id: t.arg.id({ required: true }),
        planId: t.arg.id(),
        seats: t.arg.int(),
        interval: t.arg({ type: IntervalEnum }),
        when: t.arg({ type: ChangeTimeEnum, required: true }),
        preview: t.arg.boolean(),
        expected: t.arg({ type: ExpectedSubscription }),
      },
      resolve: (_, args, context) => callOperation(changeSubscription, context, withoutNulls(args)),
    }),
    openPortal: t.string({
      nullable: true,
      extensions: { operation: openPortal },
      args: {
        ...namedUser,
        subscriptionId: t.arg.id(),
        returnUrl,
      },
      resolve: async (_, args, context) => (await callOperation(openPortal, context, withoutNulls(args))).url,
    }),
    createApiKey: t.field({
      type: NewApiKey,
      nullable: true,
      extensions: { operation: createApiKey },
      args: {
        name: t.arg.string({ required: true }),
        expiresAt: t.arg({ type: "DateTime" }),
      },
      resolve: (_, args, context) => callOperation(createApiKey, context, args),
    }),
    revokeApiKey: t.boolean({
      nullable: true,
      extensions: { operation: revokeApiKey },
      args: { id: t.arg.id({ required: true }) },
      resolve: async (_, args, context) => (await callOperation(revokeApiKey, context, args)).success,
    }),
    createServiceKey: t.field({
      type: NewServiceKey,
      nullable: true,
      extensions: { operation: createServiceKey },
      args: {
        name: t.arg.string({ required: true }),
        permissions: t.arg.stringList({ required: true }),
        limit: t.arg.string(),
        expiresAt: t.arg({ type: "DateTime" }),
      },
      // A null `expiresAt` means never.
      resolve: (_, { limit, ...args }, context) =>
        callOperation(createServiceKey, context, {
          ...(args as { permissions: Permission[] } & typeof args),
          ...(limit === null || limit === undefined ? {} : { limit }),
        }),
    }),
    rotateServiceKey: t.field({
      type: RotatedServiceKey,
      nullable: true,
      extensions: { operation: rotateServiceKey },
      args: { id: t.arg.id({ required: true }) },
      resolve: (_, args, context) => callOperation(rotateServiceKey, context, args),
    }),
    revokeServiceKey: t.boolean({
      nullable: true,
      extensions: { operation: revokeServiceKey },
      args: { id: t.arg.id({ required: true }) },
      resolve: async (_, args, context) => (await callOperation(revokeServiceKey, context, args)).success,
    }),
    markRead: t.field({
      type: Notification,
      nullable: true,
      extensions: { operation: markRead },
      args: { id: t.arg.id({ required: true }) },
      resolve: (_, args, context) => callOperation(markRead, context, args),
    }),
    markAllRead: t.int({
      nullable: true,
      description: `${markAllRead.summary}; returns how many`,
      resolve: async (_, args, context) => (await callOperation(markAllRead, context, args)).count,
    }),
    changeRole: t.field({
      type: User,
      nullable: true,
      extensions: { operation: changeRole },
      args: {
        userId: t.arg.id({ required: true, description: "The user's id." }),
        role: t.arg({ type: RoleEnum, required: true, description: "The new role." }),
      },
      resolve: (_, args, context) => callOperation(changeRole, context, args),
    }),
    deleteUser: t.boolean({
      nullable: true,
      extensions: { operation: deleteUser },
      args: {
        userId: t.arg.id({ required: true, description: "The user's id." }),
        confirmation: t.arg.string({ required: true }),
      },
      resolve: async (_, args, context) => (await callOperation(deleteUser, context, args)).success,
    }),
    replayDelivery: t.field({
      type: Replay,
      nullable: true,
      extensions: { operation: replayDelivery },
      args: {
        id: t.arg.id({ required: true }),
        force: t.arg.boolean({
          required: true,
          defaultValue: false,
        }),
      },
      resolve: (_, args, context) => callOperation(replayDelivery, context, args),
    }),
    reconcileSubscription: t.field({
      type: Subscription,
      nullable: true,
      extensions: { operation: reconcileSubscription },
      args: { id: t.arg.id({ required: true }) },
      resolve: (_, args, context) => callOperation(reconcileSubscription, context, args),
    }),
    dismissSubscription: t.field({
      type: Subscription,
      nullable: true,
      extensions: { operation: dismissSubscription },
      args: {
        id: t.arg.id({ required: true }),
        reason: t.arg.string({ required: true }),
      },
      resolve: (_, args, context) => callOperation(dismissSubscription, context, args),
    }),
  }),
});
