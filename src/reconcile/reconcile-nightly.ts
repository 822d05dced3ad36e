import { SLOTS } from "../domain/slot.ts";
import type { Lease } from "../store/leases.ts";
import { dueNight, finishNight } from "../store/nightly.ts";
import {
  LOOK_BACK_DAYS,
  type ReconcileReport,
  type ReconcileTools,
  reconcile,
  type SlotReport,
} from "./reconcile.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * The nightly run: ingests events missed in the last week, and compares subscriptions that are flagged or
 * recently changed. It is done once every configured provider has responded, and is run again until then.
 * `null`: it is done.
 */
export async function reconcileNightly(
  tools: ReconcileTools,
  { isStopping, lease }: { isStopping: () => boolean; lease: Lease },
): Promise<ReconcileReport | null> {
  const { database } = tools.intake;
  const night = await dueNight(database);
  if (night === null) return null;
  const report = await reconcile(tools, {
    slots: SLOTS,
    subscription: null,
    extent: "recently changed",
    since: new Date(Date.now() - LOOK_BACK_DAYS * DAY_MS),
    dryRun: false,
    by: "server",
    isStopping,
  });
  if (!isStopping() && unreachedSlots(tools, report).length === 0) await finishNight(database, night, lease);
  return report;
}

/** The slots whose provider could not be reached. */
export function unreachedSlots({ payments }: ReconcileTools, { slots }: ReconcileReport): SlotReport[] {
  return slots.filter(({ slot, problem }) => problem !== null && payments[slot] !== null);
}
