import type { PaymentApi } from "../domain/payment-api.ts";
import type { PaymentEvent } from "../domain/payment-event.ts";
import type { Slot } from "../domain/slot.ts";
import { logUnwanted } from "../intake/deleted-users.ts";
import type { Intake } from "../intake/intake.ts";
import { findReconcilable } from "../store/reconciliations.ts";
import { insertUnwanted } from "../store/unwanted-subscriptions.ts";
import { findByProviderIds } from "../store/verification.ts";
import { adopt } from "./adopt.ts";
import { compare } from "./compare.ts";
import { comparePayments } from "./compare-payments.ts";
import { findOwners } from "./find-owners.ts";
import { inBatches } from "./in-batches.ts";
import { notCorrected } from "./not-corrected.ts";
import type { Reconciler } from "./reconciler.ts";
import { subscriptionDrift } from "./subscription-drift.ts";
import { unrepeated } from "./unrepeated.ts";

export type ChangedReport = {
  /** How many subscriptions have changed according to the provider. */
  listed: number;
  corrected: number;
  /** Subscriptions known to the provider but not to us. */
  adopted: number;
  /** Payments that were missing or differed, and are recorded now. */
  payments: number;
};

/**
 * For a provider that lists no events, or has sent none: compares the subscriptions that have changed there
 * since and the payments made since, and adopts unknown subscriptions of our users; those of deleted accounts
 * are to be canceled. A dry run counts what it would change.
 * @throws PaymentApiProblem, DatabaseUnavailable
 */
export async function compareChanged(
  intake: Intake,
  slot: Slot,
  api: PaymentApi,
  {
    since,
    dryRun,
    by,
    isStopping,
  }: { since: Date; dryRun: boolean; by: Reconciler; isStopping: () => boolean },
): Promise<ChangedReport> {
  const report: ChangedReport = { listed: 0, corrected: 0, adopted: 0, payments: 0 };
  // Pages are fetched later; this is the earliest possible time.
  const askedAtMicros = Date.now() * 1000;
  const list = unrepeated(
    api.listSubscriptions(since),
    ({ providerSubscriptionId }) => providerSubscriptionId,
  );
  for await (const states of inBatches(list)) {
    if (isStopping()) return report;
    report.listed += states.length;
    await compareBatch(intake, slot, api, { states, askedAtMicros, dryRun, by, report });
  }
  report.payments = await comparePayments(intake, slot, api, { since, dryRun, by, notify: true, isStopping });
  return report;
}

async function compareBatch(
  intake: Intake,
  slot: Slot,
  api: PaymentApi,
  {
    states,
    askedAtMicros,
    dryRun,
    by,
    report,
  }: {
    states: readonly PaymentEvent[];
    askedAtMicros: number;
    dryRun: boolean;
    by: Reconciler;
    report: ChangedReport;
  },
): Promise<void> {
  const { database, plans } = intake;
  const ids = states.map(({ providerSubscriptionId }) => providerSubscriptionId as string);
  const stored = await findByProviderIds(database, slot, ids);
  const ownerOf = await findOwners(database, slot, states);
  const compareOne = async (state: PaymentEvent) => {
    const providerSubscriptionId = state.providerSubscriptionId as string;
    const ours = stored.get(providerSubscriptionId);
    if (ours === undefined) {
      const owner = ownerOf(state);
      if (owner === "deleted" && state.status !== "canceled" && !dryRun) {
        const unwanted = [{ provider: slot, providerSubscriptionId }];
        await insertUnwanted(database, unwanted);
        logUnwanted(intake, unwanted);
      }
      if (owner !== "present") return;
      if (dryRun) {
        report.adopted += 1;
        return;
      }
      // Nobody is notified of a subscription that had ended before it was seen.
      const options = { askedAtMicros, by, notify: state.status !== "canceled" };
      const { outcome } = await adopt(intake, slot, state, options);
      if (outcome === "adopted") report.adopted += 1;
      return;
    }
    if (subscriptionDrift(ours, state, plans).length === 0) return;
    const reconcilable = await findReconcilable(database, ours.id);
    if (reconcilable === null) return;
    const comparison = await compare(intake, api, reconcilable, {
      by,
      audit: "changes",
      dryRun,
      notify: true,
    });
    if (comparison.outcome === "compared" && comparison.changes !== null) report.corrected += 1;
  };
  for (const state of states) {
    const { providerSubscriptionId } = state;
    await compareOne(state).catch((error: unknown) => {
      notCorrected(intake, { provider: slot, providerSubscriptionId }, error);
    });
  }
}
