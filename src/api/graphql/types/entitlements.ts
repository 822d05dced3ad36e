import { checkEntitlement } from "../../../operations/entitlements/check-entitlement.ts";
import { EntitlementsView } from "../../../operations/entitlements/current-view.ts";
import type { showEntitlements } from "../../../operations/entitlements/show-entitlements.ts";
import { FEATURE_ID_DESCRIPTION } from "../../../operations/plans/feature-value-view.ts";
import { builder } from "../builder.ts";
import * as enums from "../enums.ts";
import { ID_DEPRECATION_REASON } from "./id-deprecation-reason.ts";
import type { OutputOf } from "./operation-output.ts";

type EntitlementsResult = OutputOf<typeof showEntitlements>;

const FeatureEntitlement = builder
  .objectRef<EntitlementsResult["features"][string] & { id: string }>("FeatureEntitlement")
  .implement({
    extensions: { view: EntitlementsView.shape.features.valueType },
    fields: (t) => ({
      featureId: t.exposeID("id", { description: FEATURE_ID_DESCRIPTION }),
      id: t.exposeID("id", { description: FEATURE_ID_DESCRIPTION, deprecationReason: ID_DEPRECATION_REASON }),
      kind: t.expose("kind", { type: enums.FeatureKindEnum }),
      value: t.expose("value", { type: "JSON" }),
      used: t.int({ nullable: true, resolve: ({ used }) => used ?? null }),
      remaining: t.int({ nullable: true, resolve: ({ remaining }) => remaining ?? null }),
    }),
  });

export const Entitlements = builder.objectRef<EntitlementsResult>("Entitlements").implement({
  extensions: { view: EntitlementsView },
  fields: (t) => ({
    planId: t.exposeID("planId", { nullable: true }),
    status: t.expose("status", { type: enums.SubscriptionStatusEnum, nullable: true }),
    until: t.expose("until", { type: "DateTime", nullable: true }),
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
    extensions: { view: checkEntitlement.output },
    fields: (t) => ({
      allowed: t.exposeBoolean("allowed"),
      reason: t.expose("reason", { type: enums.CheckReasonEnum }),
      until: t.expose("until", { type: "DateTime", nullable: true }),
      remaining: t.int({ nullable: true, resolve: ({ remaining }) => remaining ?? null }),
    }),
  });
