import type { z } from "zod";
import type { createApiKey } from "../../operations/api-keys/create-api-key.ts";
import type { listApiKeys } from "../../operations/api-keys/list-api-keys.ts";
import type { changeSubscription } from "../../operations/billing/change-subscription.ts";
import type { checkEntitlement } from "../../operations/entitlements/check-entitlement.ts";
import type { showEntitlements } from "../../operations/entitlements/show-entitlements.ts";
import type { listNotifications } from "../../operations/notifications/list-notifications.ts";
import type { listPayments } from "../../operations/payments/list-payments.ts";
import type { listFeatures } from "../../operations/plans/list-features.ts";
import type { listPlans } from "../../operations/plans/list-plans.ts";
import { listOfUsers, NEWEST_PER_USER } from "../../operations/subscriptions/list-of-users.ts";
import type { showSubscription } from "../../operations/subscriptions/show-subscription.ts";
import type { showProfile } from "../../operations/users/show-profile.ts";
import type { listDeliveries } from "../../operations/webhooks/list-deliveries.ts";
import type { replayDelivery } from "../../operations/webhooks/replay-delivery.ts";
import type { showDelivery } from "../../operations/webhooks/show-delivery.ts";
import { builder, through } from "./builder.ts";
import * as enums from "./enums.ts";

type Result<Offered extends { output: z.ZodType }> = z.input<Offered["output"]>;
type Listed<Offered extends { output: z.ZodType<unknown, { items: unknown[] }> }> =
  Result<Offered>["items"][number];

const Preferences = builder.objectRef<Result<typeof showProfile>["preferences"]>("Preferences").implement({
  fields: (t) => ({
    theme: t.expose("theme", { type: enums.ThemeEnum }),
    emailNotifications: t.exposeBoolean("emailNotifications"),
  }),
});

export const Subscription = builder
  .objectRef<Result<typeof showSubscription>>("BillingSubscription")
  .implement({
    fields: (t) => ({
      id: t.exposeID("id"),
      userId: t.exposeID("userId", {
        nullable: true,
        description: "null once the user has deleted the account.",
      }),
      provider: t.expose("provider", { type: enums.SlotEnum }),
      providerSubscriptionId: t.exposeString("providerSubscriptionId", { nullable: true }),
      planId: t.exposeID("planId"),
      seats: t.exposeInt("seats"),
      status: t.expose("status", { type: enums.SubscriptionStatusEnum }),
      currentPeriodEnd: t.expose("currentPeriodEnd", { type: "DateTime", nullable: true }),
      cancelAtPeriodEnd: t.exposeBoolean("cancelAtPeriodEnd"),
      outOfOrder: t.exposeBoolean("outOfOrder", {
        description:
          "An older event was applied after a newer one; the subscription waits for comparison with the provider.",
      }),
      createdAt: t.expose("createdAt", { type: "DateTime" }),
      updatedAt: t.expose("updatedAt", { type: "DateTime" }),
    }),
  });

export const User = builder.objectRef<Result<typeof showProfile>>("User").implement({
  fields: (t) => ({
    id: t.exposeID("id"),
    name: t.exposeString("name"),
    email: t.exposeString("email"),
    emailVerified: t.exposeBoolean("emailVerified"),
    role: t.expose("role", { type: enums.RoleEnum }),
    locale: t.expose("locale", { type: enums.LocaleEnum }),
    preferences: t.expose("preferences", { type: Preferences }),
    onboarded: t.exposeBoolean("onboarded"),
    createdAt: t.expose("createdAt", { type: "DateTime" }),
    updatedAt: t.expose("updatedAt", { type: "DateTime" }),
    subscriptions: t.loadableList({
      type: Subscription,
      nullable: true,
      description: `The newest ${NEWEST_PER_USER}; for all users of a list in one look-up, which counts as one call.`,
      extensions: { size: NEWEST_PER_USER },
      load: (userIds: string[], context) => through(listOfUsers, context, { userIds }),
      // Not cached: a mutation of the same request may have changed it.
      loaderOptions: { maxBatchSize: 100, cache: false },
      resolve: (user) => user.id,
    }),
  }),
});

const Price = builder.objectRef<Listed<typeof listPlans>["price"]>("Price").implement({
  fields: (t) => ({
    amount: t.exposeInt("amount", { description: "In the currency's smallest unit, per seat and interval." }),
    currency: t.exposeString("currency", { description: "ISO 4217." }),
    interval: t.expose("interval", { type: enums.IntervalEnum }),
  }),
});

const Seats = builder.objectRef<Listed<typeof listPlans>["seats"]>("Seats").implement({
  fields: (t) => ({ min: t.exposeInt("min"), max: t.exposeInt("max") }),
});

const FeatureDetails = builder
  .objectRef<Listed<typeof listPlans>["featureDetails"][number]>("FeatureDetails")
  .implement({
    description: "A feature of a plan, for programs.",
    fields: (t) => ({
      id: t.exposeID("id"),
      kind: t.expose("kind", { type: enums.FeatureKindEnum }),
      value: t.expose("value", {
        type: "JSON",
        description:
          "For a flag, whether it is on; for a limit, the number; for a quota, the amount per billing period.",
      }),
      text: t.exposeString("text", { description: "In the caller's language." }),
    }),
  });

export const Plan = builder.objectRef<Listed<typeof listPlans>>("Plan").implement({
  fields: (t) => ({
    id: t.exposeID("id"),
    name: t.exposeString("name"),
    price: t.expose("price", {
      type: Price,
      description: "The default price.",
    }),
    prices: t.expose("prices", { type: [Price], description: "All prices, the default one first." }),
    trialDays: t.exposeInt("trialDays", { description: "Days of a free trial; 0: none." }),
    features: t.exposeStringList("features", { description: "What it includes, in the caller's language." }),
    featureDetails: t.expose("featureDetails", {
      type: [FeatureDetails],
      description: "The same in machine-readable form.",
      extensions: { size: 20 },
    }),
    seats: t.expose("seats", { type: Seats }),
  }),
});

type EntitlementsResult = Result<typeof showEntitlements>;

const FeatureEntitlement = builder
  .objectRef<EntitlementsResult["features"][string] & { id: string }>("FeatureEntitlement")
  .implement({
    description: "What a user may do of a feature.",
    fields: (t) => ({
      id: t.exposeID("id"),
      kind: t.expose("kind", { type: enums.FeatureKindEnum }),
      value: t.expose("value", {
        type: "JSON",
        description:
          "Of a flag whether it is on, of a limit the number, of a quota the amount per billing period.",
      }),
      used: t.int({
        nullable: true,
        description: "Of a quota, in the current period.",
        resolve: ({ used }) => used ?? null,
      }),
      remaining: t.int({
        nullable: true,
        description: "Of a quota, in the current period.",
        resolve: ({ remaining }) => remaining ?? null,
      }),
    }),
  });

export const Entitlements = builder.objectRef<EntitlementsResult>("Entitlements").implement({
  description: "What a user may do, by all of their subscriptions.",
  fields: (t) => ({
    planId: t.exposeID("planId", {
      nullable: true,
      description: "Without a subscription that gives access, the free plan.",
    }),
    status: t.expose("status", {
      type: enums.SubscriptionStatusEnum,
      nullable: true,
      description: "null: no subscription.",
    }),
    until: t.expose("until", {
      type: "DateTime",
      nullable: true,
      description: "How long this holds for certain; null: no end is known.",
    }),
    features: t.field({
      type: [FeatureEntitlement],
      description: "Every feature of any plan.",
      extensions: { size: 20 },
      resolve: ({ features }) => Object.entries(features).map(([id, one]) => ({ id, ...one })),
    }),
  }),
});

export const EntitlementCheck = builder
  .objectRef<Result<typeof checkEntitlement>>("EntitlementCheck")
  .implement({
    description: "Whether a user may use a feature.",
    fields: (t) => ({
      allowed: t.exposeBoolean("allowed"),
      reason: t.expose("reason", { type: enums.CheckReasonEnum, description: "Why, or why not." }),
      until: t.expose("until", {
        type: "DateTime",
        nullable: true,
        description:
          "Until when an allowed check holds for certain, or when an exceeded quota starts over; null: not known.",
      }),
      remaining: t.int({
        nullable: true,
        description: "Of a quota: what is left, before this amount.",
        resolve: ({ remaining }) => remaining ?? null,
      }),
    }),
  });

export const Feature = builder
  .objectRef<Result<typeof listFeatures>["features"][number]>("Feature")
  .implement({
    fields: (t) => ({
      name: t.exposeString("name"),
      planIds: t.exposeIDList("planIds", {
        description: "The plans that include it, in the order in which plans are listed.",
      }),
    }),
  });

export const Payment = builder.objectRef<Listed<typeof listPayments>>("Payment").implement({
  fields: (t) => ({
    id: t.exposeID("id"),
    provider: t.expose("provider", { type: enums.SlotEnum }),
    providerPaymentId: t.exposeString("providerPaymentId"),
    subscriptionId: t.exposeID("subscriptionId", { nullable: true }),
    amount: t.exposeFloat("amount", { description: "In the currency's smallest unit; a whole number." }),
    currency: t.exposeString("currency", { description: "ISO 4217." }),
    status: t.expose("status", { type: enums.PaymentStatusEnum }),
    receiptUrl: t.exposeString("receiptUrl", { nullable: true }),
    occurredAt: t.expose("occurredAt", { type: "DateTime" }),
  }),
});

const ChangePreview = builder
  .objectRef<NonNullable<Result<typeof changeSubscription>["preview"]>>("ChangePreview")
  .implement({
    fields: (t) => ({
      amountDue: t.exposeFloat("amountDue", {
        description: "In the currency's smallest unit, charged at `at`; negative: a credit.",
      }),
      currency: t.exposeString("currency", { description: "ISO 4217." }),
      at: t.expose("at", { type: "DateTime" }),
    }),
  });

export const SubscriptionChange = builder
  .objectRef<Result<typeof changeSubscription>>("SubscriptionChange")
  .implement({
    fields: (t) => ({
      subscription: t.expose("subscription", { type: Subscription }),
      preview: t.expose("preview", { type: ChangePreview, nullable: true }),
    }),
  });

export const Notification = builder.objectRef<Listed<typeof listNotifications>>("Notification").implement({
  fields: (t) => ({
    id: t.exposeID("id"),
    kind: t.expose("kind", { type: enums.NotificationKindEnum }),
    details: t.expose("details", {
      type: "JSON",
      description: "Details of the notification, such as the id of a plan.",
    }),
    createdAt: t.expose("createdAt", { type: "DateTime" }),
    readAt: t.expose("readAt", { type: "DateTime", nullable: true }),
  }),
});

export const ApiKey = builder.objectRef<Listed<typeof listApiKeys>>("ApiKey").implement({
  fields: (t) => ({
    id: t.exposeID("id"),
    name: t.exposeString("name"),
    prefix: t.exposeString("prefix", { description: "The beginning of the key, to tell keys apart." }),
    createdAt: t.expose("createdAt", { type: "DateTime" }),
    expiresAt: t.expose("expiresAt", { type: "DateTime", nullable: true }),
    lastUsedAt: t.expose("lastUsedAt", { type: "DateTime", nullable: true }),
  }),
});

export const NewApiKey = builder.objectRef<Result<typeof createApiKey>>("NewApiKey").implement({
  fields: (t) => ({
    id: t.exposeID("id"),
    name: t.exposeString("name"),
    prefix: t.exposeString("prefix"),
    key: t.exposeString("key", { description: "Not stored: it cannot be shown again." }),
    createdAt: t.expose("createdAt", { type: "DateTime" }),
  }),
});

const LoggedDelivery = builder.interfaceRef<Listed<typeof listDeliveries>>("LoggedDelivery").implement({
  fields: (t) => ({
    id: t.exposeID("id"),
    provider: t.expose("provider", { type: enums.SlotEnum }),
    eventId: t.exposeString("eventId"),
    eventType: t.exposeString("eventType", {
      description: "The provider's name of the event, as delivered.",
    }),
    status: t.expose("status", { type: enums.DeliveryStatusEnum }),
    attempts: t.exposeInt("attempts"),
    lastError: t.exposeString("lastError", {
      nullable: true,
      description: "Why the last attempt failed, as one English sentence.",
    }),
    lastReason: t.exposeString("lastReason", {
      nullable: true,
      description: "The same as a stable identifier; null also for failures stored by earlier releases.",
    }),
    receivedAt: t.expose("receivedAt", { type: "DateTime" }),
    completedAt: t.expose("completedAt", { type: "DateTime", nullable: true }),
    nextAttemptAt: t.expose("nextAttemptAt", { type: "DateTime", nullable: true }),
  }),
});

export const Delivery = builder
  .objectRef<Listed<typeof listDeliveries>>("Delivery")
  .implement({ interfaces: [LoggedDelivery] });

const Attempt = builder.objectRef<Result<typeof showDelivery>["attemptLog"][number]>("Attempt").implement({
  fields: (t) => ({
    attempt: t.exposeInt("attempt"),
    source: t.expose("source", { type: enums.AttemptSourceEnum }),
    outcome: t.expose("outcome", { type: enums.AttemptOutcomeEnum }),
    error: t.exposeString("error", {
      nullable: true,
      description: "Why it failed, as one English sentence.",
    }),
    reason: t.exposeString("reason", { nullable: true, description: "The same as a stable identifier." }),
    params: t.expose("params", {
      type: "JSON",
      nullable: true,
      description: "Details of the reason, if there are any.",
    }),
    startedAt: t.expose("startedAt", { type: "DateTime" }),
    durationMs: t.exposeFloat("durationMs"),
    subscriptionId: t.exposeID("subscriptionId", {
      nullable: true,
      description: "The subscription that it changed; null: none.",
    }),
    changes: t.expose("changes", {
      type: "JSON",
      nullable: true,
      description:
        "The changed fields, each as a pair of the values before and after; null: it changed nothing.",
    }),
  }),
});

export const DeliveryInDetail = builder.objectRef<Result<typeof showDelivery>>("DeliveryInDetail").implement({
  interfaces: [LoggedDelivery],
  fields: (t) => ({
    payload: t.expose("payload", {
      type: "JSON",
      nullable: true,
      description: "As delivered; null when it is no longer kept.",
    }),
    attemptLog: t.expose("attemptLog", {
      type: [Attempt],
      description: "Every finished attempt, oldest first.",
      extensions: { size: 12 },
    }),
  }),
});

export const Replay = builder.objectRef<Result<typeof replayDelivery>>("Replay").implement({
  interfaces: [LoggedDelivery],
  fields: (t) => ({
    outcome: t.expose("outcome", { type: enums.ReplayOutcomeEnum }),
    error: t.exposeString("error", {
      nullable: true,
      description: "Why the replay failed, as one English sentence.",
    }),
    reason: t.exposeString("reason", { nullable: true, description: "The same as a stable identifier." }),
  }),
});
