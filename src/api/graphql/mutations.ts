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
import { builder } from "./builder.ts";
import { ChangeTimeEnum, IntervalEnum, LocaleEnum, RoleEnum, SlotEnum } from "./enums.ts";
import { namedUser } from "./named-user.ts";
import { operationField } from "./operation-field.ts";
import { NewApiKey } from "./types/api-key.ts";
import { Replay } from "./types/delivery.ts";
import { Notification } from "./types/notification.ts";
import { NewServiceKey, RotatedServiceKey } from "./types/service-key.ts";
import { ExpectedSubscription, Subscription, SubscriptionChange } from "./types/subscription.ts";
import { PreferencesInput, User } from "./types/user.ts";

const { returnUrl } = builder.args((t) => ({
  returnUrl: t.string({ description: ReturnUrl.description ?? "" }),
}));

const byId = builder.args((t) => ({ id: t.id({ required: true }) }));

builder.mutationType({
  description: "Changes, run one after the other, each charged to its operation's limit.",
  fields: (t) => ({
    updateProfile: operationField(t, updateProfile, {
      type: User,
      args: {
        name: t.arg.string(),
        locale: t.arg({ type: LocaleEnum }),
        preferences: t.arg({ type: PreferencesInput }),
      },
    }),
    setLocale: operationField(t, setLocale, {
      type: User,
      args: {
        locale: t.arg({ type: LocaleEnum, required: true, description: "The language of pages and mail." }),
      },
    }),
    completeOnboarding: operationField(t, completeOnboarding, { type: User }),
    deleteAccount: operationField(t, deleteAccount, {
      type: "Boolean",
      args: { confirmation: t.arg.string({ required: true }) },
      show: ({ success }) => success,
    }),
    createCheckout: operationField(t, createCheckout, {
      type: "String",
      args: {
        ...namedUser,
        planId: t.arg.id({ required: true }),
        seats: t.arg.int(),
        provider: t.arg({ type: SlotEnum }),
        interval: t.arg({ type: IntervalEnum }),
        currency: t.arg.string(),
        returnUrl,
      },
      show: ({ url }) => url,
    }),
    changeSubscription: operationField(t, changeSubscription, {
      type: SubscriptionChange,
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
    }),
    openPortal: operationField(t, openPortal, {
      type: "String",
      args: {
        ...namedUser,
        subscriptionId: t.arg.id(),
        returnUrl,
      },
      show: ({ url }) => url,
    }),
    createApiKey: operationField(t, createApiKey, {
      type: NewApiKey,
      args: {
        name: t.arg.string({ required: true }),
        expiresAt: t.arg({ type: "DateTime" }),
      },
      // A null `expiresAt` means never.
      input: (args) => args,
    }),
    revokeApiKey: operationField(t, revokeApiKey, {
      type: "Boolean",
      args: byId,
      show: ({ success }) => success,
    }),
    createServiceKey: operationField(t, createServiceKey, {
      type: NewServiceKey,
      args: {
        name: t.arg.string({ required: true }),
        permissions: t.arg.stringList({ required: true }),
        limit: t.arg.string(),
        expiresAt: t.arg({ type: "DateTime" }),
      },
      // A null `expiresAt` means never.
      input: ({ limit, permissions, ...args }) => ({
        ...args,
        permissions: permissions as Permission[],
        limit: limit ?? undefined,
      }),
    }),
    rotateServiceKey: operationField(t, rotateServiceKey, { type: RotatedServiceKey, args: byId }),
    revokeServiceKey: operationField(t, revokeServiceKey, {
      type: "Boolean",
      args: byId,
      show: ({ success }) => success,
    }),
    markRead: operationField(t, markRead, { type: Notification, args: byId }),
    markAllRead: operationField(t, markAllRead, {
      type: "Int",
      description: `${markAllRead.summary}; returns how many`,
      show: ({ count }) => count,
    }),
    changeRole: operationField(t, changeRole, {
      type: User,
      args: {
        userId: t.arg.id({ required: true, description: "The user's id." }),
        role: t.arg({ type: RoleEnum, required: true, description: "The new role." }),
      },
    }),
    deleteUser: operationField(t, deleteUser, {
      type: "Boolean",
      args: {
        userId: t.arg.id({ required: true, description: "The user's id." }),
        confirmation: t.arg.string({ required: true }),
      },
      show: ({ success }) => success,
    }),
    replayDelivery: operationField(t, replayDelivery, {
      type: Replay,
      args: {
        id: t.arg.id({ required: true }),
        force: t.arg.boolean({ required: true, defaultValue: false }),
      },
    }),
    reconcileSubscription: operationField(t, reconcileSubscription, { type: Subscription, args: byId }),
    dismissSubscription: operationField(t, dismissSubscription, {
      type: Subscription,
      args: {
        id: t.arg.id({ required: true }),
        reason: t.arg.string({ required: true }),
      },
    }),
  }),
});
