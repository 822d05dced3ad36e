import type { Permission } from "../../domain/permission.ts";
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
      description: updateProfile.summary,
      args: {
        name: t.arg.string({ description: "The caller's name." }),
        locale: t.arg({ type: LocaleEnum, description: "The language of pages and mail." }),
        preferences: t.arg({ type: PreferencesInput, description: "The preferences to change." }),
      },
      resolve: (_, args, context) => callOperation(updateProfile, context, withoutNulls(args)),
    }),
    setLocale: t.field({
      type: User,
      nullable: true,
      description: setLocale.summary,
      args: {
        locale: t.arg({ type: LocaleEnum, required: true, description: "The language of pages and mail." }),
      },
      resolve: (_, args, context) => callOperation(setLocale, context, args),
    }),
    completeOnboarding: t.field({
      type: User,
      nullable: true,
      description: completeOnboarding.summary,
      resolve: (_, args, context) => callOperation(completeOnboarding, context, args),
    }),
    deleteAccount: t.boolean({
      nullable: true,
      description: deleteAccount.summary,
      args: {
        confirmation: t.arg.string({ required: true, description: "The email address of the account." }),
      },
      resolve: async (_, args, context) => (await callOperation(deleteAccount, context, args)).success,
    }),
    createCheckout: t.string({
      nullable: true,
      description: createCheckout.summary,
      args: {
        ...namedUser,
        planId: t.arg.id({ required: true, description: "The plan to buy: its id in `plans.config.ts`." }),
        seats: t.arg.int({ description: "The number of seats; defaults to the plan's minimum." }),
        provider: t.arg({ type: SlotEnum, description: "The provider slot; defaults to the active one." }),
        interval: t.arg({
          type: IntervalEnum,
          description: "How often it is paid; defaults to the plan's first price.",
        }),
        currency: t.arg.string({
          description: "ISO 4217; defaults to the currency of the plan's first price.",
        }),
        returnUrl,
      },
      resolve: async (_, args, context) =>
        (await callOperation(createCheckout, context, withoutNulls(args))).url,
    }),
    changeSubscription: t.field({
      type: SubscriptionChange,
      nullable: true,
      description: changeSubscription.summary,
      args: {
        ...namedUser,
        id: t.arg.id({ required: true, description: "The subscription's id." }),
        planId: t.arg.id({ description: "The new plan; unchanged if omitted." }),
        seats: t.arg.int({ description: "The new number of seats; unchanged if omitted." }),
        interval: t.arg({
          type: IntervalEnum,
          description: "How often it is paid from then on, in the same currency; unchanged if omitted.",
        }),
        when: t.arg({ type: ChangeTimeEnum, required: true, description: "When the change takes effect." }),
        preview: t.arg.boolean({
          description: "Whether to only preview the cost, without changing anything.",
        }),
        expected: t.arg({
          type: ExpectedSubscription,
          description:
            "The subscription as it was in the preview: refused with `subscription_changed` if it is not so any more.",
        }),
      },
      resolve: (_, args, context) => callOperation(changeSubscription, context, withoutNulls(args)),
    }),
    openPortal: t.string({
      nullable: true,
      description: openPortal.summary,
      args: {
        ...namedUser,
        subscriptionId: t.arg.id({
          description: "The subscription to manage, if there are several; defaults to the active one.",
        }),
        returnUrl,
      },
      resolve: async (_, args, context) => (await callOperation(openPortal, context, withoutNulls(args))).url,
    }),
    createApiKey: t.field({
      type: NewApiKey,
      nullable: true,
      description: createApiKey.summary,
      args: {
        name: t.arg.string({ required: true, description: "A name to recognize it by." }),
        expiresAt: t.arg({
          type: "DateTime",
          description: "When it expires; defaults to a year from now; null: never.",
        }),
      },
      resolve: (_, args, context) => callOperation(createApiKey, context, args),
    }),
    revokeApiKey: t.boolean({
      nullable: true,
      description: revokeApiKey.summary,
      args: { id: t.arg.id({ required: true, description: "The key's id." }) },
      resolve: async (_, args, context) => (await callOperation(revokeApiKey, context, args)).success,
    }),
    createServiceKey: t.field({
      type: NewServiceKey,
      nullable: true,
      description: createServiceKey.summary,
      args: {
        name: t.arg.string({ required: true, description: "A name, such as the program that uses it." }),
        permissions: t.arg.stringList({ required: true, description: "Such as `entitlements:read`." }),
        limit: t.arg.string({ description: "Its rate limit, as requests/seconds; defaults to `600/60`." }),
        expiresAt: t.arg({
          type: "DateTime",
          description: "When it expires; defaults to a year from now; null: never.",
        }),
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
      description: rotateServiceKey.summary,
      args: { id: t.arg.id({ required: true, description: "The key's id." }) },
      resolve: (_, args, context) => callOperation(rotateServiceKey, context, args),
    }),
    revokeServiceKey: t.boolean({
      nullable: true,
      description: revokeServiceKey.summary,
      args: { id: t.arg.id({ required: true, description: "The key's id." }) },
      resolve: async (_, args, context) => (await callOperation(revokeServiceKey, context, args)).success,
    }),
    markRead: t.field({
      type: Notification,
      nullable: true,
      description: markRead.summary,
      args: { id: t.arg.id({ required: true, description: "The notification's id." }) },
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
      description: changeRole.summary,
      args: {
        userId: t.arg.id({ required: true, description: "The user's id." }),
        role: t.arg({ type: RoleEnum, required: true, description: "The new role." }),
      },
      resolve: (_, args, context) => callOperation(changeRole, context, args),
    }),
    deleteUser: t.boolean({
      nullable: true,
      description: deleteUser.summary,
      args: {
        userId: t.arg.id({ required: true, description: "The user's id." }),
        confirmation: t.arg.string({ required: true, description: "The email address of that account." }),
      },
      resolve: async (_, args, context) => (await callOperation(deleteUser, context, args)).success,
    }),
    replayDelivery: t.field({
      type: Replay,
      nullable: true,
      description: replayDelivery.summary,
      args: {
        id: t.arg.id({ required: true, description: "The delivery's id." }),
        force: t.arg.boolean({
          required: true,
          defaultValue: false,
          description: "Also replay a successful delivery; it stays successful even if the replay fails.",
        }),
      },
      resolve: (_, args, context) => callOperation(replayDelivery, context, args),
    }),
    reconcileSubscription: t.field({
      type: Subscription,
      nullable: true,
      description: reconcileSubscription.summary,
      args: { id: t.arg.id({ required: true, description: "The subscription's id." }) },
      resolve: (_, args, context) => callOperation(reconcileSubscription, context, args),
    }),
    dismissSubscription: t.field({
      type: Subscription,
      nullable: true,
      description: dismissSubscription.summary,
      args: {
        id: t.arg.id({ required: true, description: "The subscription's id." }),
        reason: t.arg.string({ required: true, description: "The reason, which is recorded." }),
      },
      resolve: (_, args, context) => callOperation(dismissSubscription, context, args),
    }),
  }),
});
