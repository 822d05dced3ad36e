import type { PaymentApi } from "../domain/providers/payment-api.ts";
import type { UnclearState } from "../domain/refusals/unclear-state.ts";
import { findReconcilable, type ReconcilableSubscription } from "../store/reconciliation/reconciliations.ts";
import { retryOnContention } from "../store/retry-on-contention.ts";
import type { CompareDeps, CompareOptions, Comparison } from "./comparison.ts";
import { correct } from "./correct.ts";

const ROUNDS = 5;

/**
 * Compares a subscription with its provider's current state and corrects it by the same rules as events. When
 * an event is applied in between, the provider is asked again.
 * @throws PaymentApiProblem, DatabaseUnavailable
 */
export async function compare(
  intake: CompareDeps,
  api: Pick<PaymentApi, "fetchSubscription">,
  reconcilable: ReconcilableSubscription,
  options: CompareOptions,
): Promise<Comparison> {
  let current: ReconcilableSubscription | null = reconcilable;
  for (let round = 1; round <= ROUNDS && current !== null; round += 1) {
    if (current.providerSubscriptionId === null) return leftUnchanged("no_provider_id");
    const askedAtMicros = Date.now() * 1000;
    const state = await api.fetchSubscription(current.providerSubscriptionId);
    if (state === null) return leftUnchanged("not_at_provider");
    const subscription = current;
    const comparison = await retryOnContention(() =>
      correct(intake, subscription, { state, askedAtMicros }, options),
    );
    if (comparison !== "changed_meanwhile") return comparison;
    current = await findReconcilable(intake.database, reconcilable.id);
  }
  return leftUnchanged(current === null ? "gone" : "keeps_changing");
}

/** The same for the subscription with this id as it is stored now; `null`: it is gone. */
export async function compareById(
  intake: CompareDeps,
  api: Pick<PaymentApi, "fetchSubscription">,
  id: string,
  options: CompareOptions,
): Promise<Comparison | null> {
  const reconcilable = await findReconcilable(intake.database, id);
  return reconcilable && compare(intake, api, reconcilable, options);
}

function leftUnchanged(cause: UnclearState["cause"]): Comparison {
  return { outcome: "left", because: { cause } };
}
