import type { Permission } from "../../domain/permission.ts";
import { createApiKey } from "../../operations/api-keys/create-api-key.ts";
import { revokeApiKey } from "../../operations/api-keys/revoke-api-key.ts";
import { changeSubscription } from "../../operations/billing/change-subscription.ts";
import { createCheckout } from "../../operations/billing/create-checkout.ts";
import { openPortal } from "../../operations/billing/open-portal.ts";
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
import { builder, through, withoutNulls } from "./builder.ts";
import { ChangeTimeEnum, IntervalEnum, LocaleEnum, RoleEnum, SlotEnum, ThemeEnum } from "./enums.ts";
import { namedUser } from "./named-user.ts";
import { NewApiKey } from "./types/api-key.ts";
import { Replay } from "./types/delivery.ts";
import { Notification } from "./types/notification.ts";
import { NewServiceKey, RotatedServiceKey } from "./types/service-key.ts";
import { Subscription, SubscriptionChange } from "./types/subscription.ts";
import { User } from "./types/user.ts";

const PreferencesInput = builder.inputType("PreferencesInput", {
  description: "Omitted fields stay unchanged.",
  fields: (t) => ({ theme: t.field({ type: ThemeEnum }), emailNotifications: t.boolean() }),
});

// Every field is nullable: a refused field must not discard the results of the fields before it.
builder.mutationType({
  fields: (t) => ({
    updateProfile: t.field({
      type: User,
      nullable: true,
      description: updateProfile.summary,
      args: {
        name: t.arg.string(),
        locale: t.arg({ type: LocaleEnum }),
        preferences: t.arg({ type: PreferencesInput }),
      },
      resolve: (_, args, context) => through(updateProfile, context, withoutNulls(args)),
    }),
    setLocale: t.field({
      type: User,
      nullable: true,
      description: setLocale.summary,
      args: { locale: t.arg({ type: LocaleEnum, required: true }) },
      resolve: (_, args, context) => through(setLocale, context, args),
    }),
    completeOnboarding: t.field({
      type: User,
      nullable: true,
      description: completeOnboarding.summary,
      resolve: (_, args, context) => through(completeOnboarding, context, args),
    }),
    deleteAccount: t.boolean({
      nullable: true,
      description: `${deleteAccount.summary}. \`confirmation\` is the email address of the account.`,
      args: { confirmation: t.arg.string({ required: true }) },
      resolve: async (_, args, context) => (await through(deleteAccount, context, args)).success,
    }),
    createCheckout: t.string({
      nullable: true,
      description: createCheckout.summary,
      args: {
        ...namedUser,
        planId: t.arg.id({ required: true }),
        seats: t.arg.int({ description: "Defaults to the plan's minimum." }),
        provider: t.arg({ type: SlotEnum, description: "Defaults to the active provider." }),
        interval: t.arg({ type: IntervalEnum, description: "Defaults to the plan's first price." }),
        currency: t.arg.string({
          description: "ISO 4217; defaults to the currency of the plan's first price.",
        }),
      },
      resolve: async (_, args, context) => (await through(createCheckout, context, withoutNulls(args))).url,
    }),
    changeSubscription: t.field({
      type: SubscriptionChange,
      nullable: true,
      description: changeSubscription.summary,
      args: {
        ...namedUser,
        id: t.arg.id({ required: true }),
        planId: t.arg.id(),
        seats: t.arg.int(),
        when: t.arg({ type: ChangeTimeEnum, required: true }),
        preview: t.arg.boolean({ description: "Changes nothing." }),
      },
      resolve: (_, args, context) => through(changeSubscription, context, withoutNulls(args)),
    }),
    openPortal: t.string({
      nullable: true,
      description: openPortal.summary,
      args: {
        ...namedUser,
        subscriptionId: t.arg.id({
          description: "The subscription to manage, if there are several; defaults to the active one.",
        }),
      },
      resolve: async (_, args, context) => (await through(openPortal, context, withoutNulls(args))).url,
    }),
    createApiKey: t.field({
      type: NewApiKey,
      nullable: true,
      description: createApiKey.summary,
      args: {
        name: t.arg.string({ required: true, description: "A name to recognize it by." }),
        expiresAt: t.arg({ type: "DateTime", description: "Defaults to a year from now; null: never." }),
      },
      resolve: (_, args, context) => through(createApiKey, context, args),
    }),
    revokeApiKey: t.boolean({
      nullable: true,
      description: revokeApiKey.summary,
      args: { id: t.arg.id({ required: true }) },
      resolve: async (_, args, context) => (await through(revokeApiKey, context, args)).success,
    }),
    createServiceKey: t.field({
      type: NewServiceKey,
      nullable: true,
      description: createServiceKey.summary,
      args: {
        name: t.arg.string({ required: true, description: "For example, the program that uses it." }),
        permissions: t.arg.stringList({ required: true, description: "Such as `entitlements:read`." }),
        limit: t.arg.string({ description: "Requests per seconds; defaults to `600/60`." }),
        expiresAt: t.arg({ type: "DateTime", description: "Defaults to a year from now; null: never." }),
      },
      // A null `expiresAt` means never.
      resolve: (_, { limit, ...args }, context) =>
        through(createServiceKey, context, {
          ...(args as { permissions: Permission[] } & typeof args),
          ...(limit === null || limit === undefined ? {} : { limit }),
        }),
    }),
    rotateServiceKey: t.field({
      type: RotatedServiceKey,
      nullable: true,
      description: rotateServiceKey.summary,
      args: { id: t.arg.id({ required: true }) },
      resolve: (_, args, context) => through(rotateServiceKey, context, args),
    }),
    revokeServiceKey: t.boolean({
      nullable: true,
      description: revokeServiceKey.summary,
      args: { id: t.arg.id({ required: true }) },
      resolve: async (_, args, context) => (await through(revokeServiceKey, context, args)).success,
    }),
    markRead: t.field({
      type: Notification,
      nullable: true,
      description: markRead.summary,
      args: { id: t.arg.id({ required: true }) },
      resolve: (_, args, context) => through(markRead, context, args),
    }),
    markAllRead: t.int({
      nullable: true,
      description: `${markAllRead.summary}; returns how many`,
      resolve: async (_, args, context) => (await through(markAllRead, context, args)).count,
    }),
    changeRole: t.field({
      type: User,
      nullable: true,
      description: changeRole.summary,
      args: { userId: t.arg.id({ required: true }), role: t.arg({ type: RoleEnum, required: true }) },
      resolve: (_, args, context) => through(changeRole, context, args),
    }),
    deleteUser: t.boolean({
      nullable: true,
      description: `${deleteUser.summary}. \`confirmation\` is the email address of that account.`,
      args: { userId: t.arg.id({ required: true }), confirmation: t.arg.string({ required: true }) },
      resolve: async (_, args, context) => (await through(deleteUser, context, args)).success,
    }),
    replayDelivery: t.field({
      type: Replay,
      nullable: true,
      description: replayDelivery.summary,
      args: {
        id: t.arg.id({ required: true }),
        force: t.arg.boolean({
          required: true,
          defaultValue: false,
          description: "Also replay a successful delivery; it stays successful even if the replay fails.",
        }),
      },
      resolve: (_, args, context) => through(replayDelivery, context, args),
    }),
    reconcileSubscription: t.field({
      type: Subscription,
      nullable: true,
      description: reconcileSubscription.summary,
      args: { id: t.arg.id({ required: true }) },
      resolve: (_, args, context) => through(reconcileSubscription, context, args),
    }),
    dismissSubscription: t.field({
      type: Subscription,
      nullable: true,
      description: dismissSubscription.summary,
      args: {
        id: t.arg.id({ required: true }),
        reason: t.arg.string({ required: true, description: "The reason, which is recorded." }),
      },
      resolve: (_, args, context) => through(dismissSubscription, context, args),
    }),
  }),
});
