import { z } from "zod";
import { mapProviderErrors, type ProviderTools, providerOf } from "../../billing/map-provider-errors.ts";
import { notFound, refuse } from "../../domain/refusals/refusal.ts";
import type { Intake } from "../../intake/intake.ts";
import { compare } from "../../reconcile/compare.ts";
import { throwUnavailableOnTimeout } from "../../store/database.ts";
import { findReconcilable } from "../../store/reconciliation/reconciliations.ts";
import { findSubscription } from "../../store/subscriptions/subscription-list.ts";
import { defineOperation } from "../operation.ts";
import { SubscriptionView } from "./subscription-view.ts";

/**
 * Changes nothing, and refuses with `conflict`, when the provider does not tell the state of the
 * subscription.
 */
export const reconcileSubscription = defineOperation({
  name: "subscriptions.reconcile",
  summary: "Compares a subscription with its provider and corrects it",
  access: "admin",
  limit: "admin",
  input: z.strictObject({ id: SubscriptionView.shape.id }),
  reasons: [
    "not_found",
    "provider_state_unclear",
    "provider_not_configured",
    "provider_unreachable",
    "provider_rejected",
    "email_known_to_provider",
  ],
  output: SubscriptionView,
  run: async (deps: ProviderTools & { intake: Intake }, caller, { id }) => {
    const { database } = deps.intake;
    const reconcilable = (await findReconcilable(database, id)) ?? notFound("subscription");
    const { provider } = reconcilable;
    const api = providerOf(deps.payments, provider);
    const options = { by: caller, audit: "each", dryRun: false, notify: true } as const;
    const comparing = compare(deps.intake, api, reconcilable, options).catch(throwUnavailableOnTimeout);
    const comparison = await mapProviderErrors(
      deps,
      { slot: provider, userId: caller.kind === "operator" ? "operator" : caller.userId },
      comparing,
    );
    if (comparison.outcome === "left")
      refuse({ reason: "provider_state_unclear", params: comparison.because });
    return (await findSubscription(database, id)) ?? notFound("subscription");
  },
});
