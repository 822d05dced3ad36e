import type { checkEntitlement } from "../../../operations/entitlements/check-entitlement.ts";
import type { showEntitlements } from "../../../operations/entitlements/show-entitlements.ts";
import { builder } from "../builder.ts";
import * as enums from "../enums.ts";
import { FEATURE_KIND, FEATURE_VALUE } from "./feature-value.ts";
import type { OutputOf } from "./operation-output.ts";

type EntitlementsResult = OutputOf<typeof showEntitlements>;

const FeatureEntitlement = builder
  .objectRef<EntitlementsResult["features"][string] & { id: string }>("FeatureEntitlement")
  .implement({
    description: "A feature as a user's subscriptions grant it.",
    fields: (t) => ({
      id: t.exposeID("id"),
      kind: t.expose("kind", FEATURE_KIND),
      value: t.expose("value", FEATURE_VALUE),
      used: t.int({
        nullable: true,
        description: "For a quota: in the current period.",
        resolve: ({ used }) => used ?? null,
      }),
      remaining: t.int({
        nullable: true,
        description: "For a quota: in the current period.",
        resolve: ({ remaining }) => remaining ?? null,
      }),
    }),
  });

export const Entitlements = builder.objectRef<EntitlementsResult>("Entitlements").implement({
  description: "The features that all of a user's subscriptions grant together.",
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
      resolve: ({ features }) => Object.entries(features).map(([id, feature]) => ({ id, ...feature })),
    }),
  }),
});

export const EntitlementCheck = builder
  .objectRef<OutputOf<typeof checkEntitlement>>("EntitlementCheck")
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
        description: "For a quota: how much is left, this amount not yet included.",
        resolve: ({ remaining }) => remaining ?? null,
      }),
    }),
  });
