import type { PaymentState } from "../domain/payments/payment-state.ts";
import type { PaymentApi } from "../domain/providers/payment-api.ts";
import type { Slot } from "../domain/slot.ts";
import type { Intake } from "../intake/intake.ts";
import { findPaymentOwners, findPayments } from "../store/payments/verify-payments.ts";
import { comparePayment, type FetchedPayment } from "./compare-payment.ts";
import { forEachConcurrently } from "./for-each-concurrently.ts";
import { inBatches } from "./in-batches.ts";
import { paymentDrift } from "./payment-drift.ts";
import type { Reconciler } from "./reconciler.ts";
import { unrepeated } from "./unrepeated.ts";

type CompareOptions = {
  /** `null`: all. */
  since: Date | null;
  /** Counts what would be recorded or corrected. */
  dryRun: boolean;
  by: Reconciler;
  /** Whether people are notified and events are emitted. */
  notify: boolean;
  /** Called when a payment could not be compared; the others still are, unless it throws. */
  failed: (providerPaymentId: string, error: unknown) => void;
  isStopping: () => boolean;
};

/**
 * Compares the payments made since, or all, and records missing ones of known subscriptions and users.
 * Returns how many were recorded or corrected, in a dry run how many would be.
 * @throws PaymentApiProblem, DatabaseUnavailable, and what `failed` throws
 */
export async function comparePayments(
  intake: Intake,
  slot: Slot,
  api: PaymentApi,
  { since, dryRun, by, notify, failed, isStopping }: CompareOptions,
): Promise<number> {
  let count = 0;
  const askedAtMicros = Date.now() * 1000;
  const compare = async (providerPaymentId: string, answer: { listed?: FetchedPayment }) => {
    const options = { providerPaymentId, by, notify, ...answer };
    try {
      const comparison = await comparePayment(intake, slot, api, options);
      if (comparison === "recorded" || comparison === "corrected") count += 1;
    } catch (error) {
      failed(providerPaymentId, error);
    }
  };
  const list = api.listPayments({ since, providerSubscriptionId: null });
  for await (const states of inBatches(unrepeated(list, ({ charge }) => charge.id))) {
    if (isStopping()) return count;
    const { missing, different } = await differing(intake, slot, states);
    if (dryRun) {
      count += missing.length + different.length;
      continue;
    }
    // Taken from the list: a request for each missing payment would make imports last for hours.
    await forEachConcurrently(missing, (state) =>
      compare(state.charge.id, { listed: { state, askedAtMicros } }),
    );
    for (const state of different) {
      if (isStopping()) return count;
      await compare(state.charge.id, {});
    }
  }
  return count;
}

/** Payments that are missing here or differ. */
async function differing(
  { database }: Intake,
  slot: Slot,
  states: readonly PaymentState[],
): Promise<{ missing: PaymentState[]; different: PaymentState[] }> {
  const ids = states.map(({ charge }) => charge.id);
  const [storedPayments, owners] = await Promise.all([
    findPayments(database, slot, ids),
    findPaymentOwners(database, slot, states),
  ]);
  const missing: PaymentState[] = [];
  const different: PaymentState[] = [];
  for (const [at, state] of states.entries()) {
    const ours = storedPayments.get(state.charge.id);
    const isOurs = owners[at]?.hasSubscription || owners[at]?.userId;
    if (ours !== undefined) {
      if (paymentDrift(ours, state).length > 0) different.push(state);
    } else if (isOurs && !state.isUndecided) missing.push(state);
  }
  return { missing, different };
}
