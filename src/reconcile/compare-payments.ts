import type { PaymentApi } from "../domain/payment-api.ts";
import type { PaymentState } from "../domain/payment-state.ts";
import type { Slot } from "../domain/slot.ts";
import type { Intake } from "../intake/intake.ts";
import { findPaymentOwners, findPayments } from "../store/verify-payments.ts";
import { comparePayment } from "./compare-payment.ts";
import { paymentDrift } from "./payment-drift.ts";
import type { Reconciler } from "./reconciler.ts";

const BATCH_SIZE = 100;

/**
 * Compares the payments made since, and records missing ones of known subscriptions and users. Returns how many were
 * recorded or corrected, in a dry run how many would be.
 * @throws PaymentApiProblem, DatabaseUnavailable
 */
export async function comparePayments(
  intake: Intake,
  slot: Slot,
  api: PaymentApi,
  {
    since,
    dryRun,
    by,
    isStopping,
  }: { since: Date; dryRun: boolean; by: Reconciler; isStopping: () => boolean },
): Promise<number> {
  let count = 0;
  let batch: PaymentState[] = [];
  const flush = async () => {
    const ids = await differing(intake, slot, batch);
    batch = [];
    if (dryRun) {
      count += ids.length;
      return;
    }
    for (const providerPaymentId of ids) {
      const comparison = await comparePayment(intake, slot, api, { providerPaymentId, by, notify: true });
      if (comparison === "recorded" || comparison === "corrected") count += 1;
    }
  };
  for await (const state of api.listPayments({ since, providerSubscriptionId: null })) {
    if (isStopping()) return count;
    batch.push(state);
    if (batch.length >= BATCH_SIZE) await flush();
  }
  await flush();
  return count;
}

/** The provider's ids of those that are missing or differ. */
async function differing(
  { database }: Intake,
  slot: Slot,
  states: readonly PaymentState[],
): Promise<string[]> {
  const ids = states.map(({ charge }) => charge.id);
  const [known, owners] = await Promise.all([
    findPayments(database, slot, ids),
    findPaymentOwners(database, slot, states),
  ]);
  return states.flatMap((state, at) => {
    const { id } = state.charge;
    const ours = known.get(id);
    if (ours !== undefined) return paymentDrift(ours, state).length > 0 ? [id] : [];
    const owner = owners[at];
    const isOurs = owner?.hasSubscription || owner?.userId;
    return isOurs && !state.isUndecided ? [id] : [];
  });
}
