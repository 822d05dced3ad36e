import { configuredSlots } from "../domain/providers/payment-api.ts";
import type { Lease } from "../store/leases.ts";
import { findDueNight, finishNight } from "../store/reconciliation/nightly.ts";
import { findWaitingChanges } from "../store/subscriptions/scheduled-changes.ts";
import { LOOK_BACK_DAYS, type ReconcileReport, reconcile, type SlotReport } from "./reconcile.ts";
import type { ReconcileTools } from "./reconcile-tools.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * The nightly run: ingests events missed in the last week, compares subscriptions that are flagged or
 * recently changed, and requests a comparison of those for which a change waits: no event may say that it has
 * been withdrawn. A slot is done once its provider has responded, and is run again until then, by servers
 * that have its key. `null`: all are done.
 */
export async function reconcileNightly(
  tools: ReconcileTools,
  { isStopping, lease }: { isStopping: () => boolean; lease: Lease },
): Promise<ReconcileReport | null> {
  const { database } = tools.intake;
  const configured = configuredSlots(tools.payments);
  const due = await findDueNight(database, configured);
  if (due === null) return null;
  const report = await reconcile(tools, {
    slots: due.slots,
    subscription: null,
    extent: "recently changed",
    since: new Date(Date.now() - LOOK_BACK_DAYS * DAY_MS),
    dryRun: false,
    by: "server",
    isStopping,
  });
  for (const slot of due.slots) {
    const waiting = await findWaitingChanges(database, slot);
    if (waiting.length > 0) tools.intake.requestComparison?.(slot, waiting);
  }
  const compared = report.slots.filter(({ problem }) => problem === null).map(({ slot }) => slot);
  if (!isStopping() && compared.length > 0)
    await finishNight(database, { night: due.night, slots: compared }, lease);
  return report;
}

/** The slots that are incomplete. */
export function incompleteSlots({ slots }: ReconcileReport): SlotReport[] {
  return slots.filter(({ problem }) => problem !== null);
}
