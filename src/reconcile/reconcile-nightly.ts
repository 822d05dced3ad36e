import { acquireLease, finishNight, renewLease } from "../store/nightly.ts";
import {
  ALL_SLOTS,
  LOOK_BACK_DAYS,
  type ReconcileReport,
  type ReconcileTools,
  reconcile,
} from "./reconcile.ts";

const LEASE_SECONDS = 10 * 60;
const HOLD_EVERY_MS = 60_000;
const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * The night's comparison: what was missed in the last week, what is out of order, and what has changed of late. One
 * process of several does it; one that dies over it is relieved. `null`: it is done, or somebody is at it.
 */
export async function reconcileNightly(
  tools: ReconcileTools,
  isStopping: () => boolean,
): Promise<ReconcileReport | null> {
  const { database } = tools.intake;
  const night = await acquireLease(database, LEASE_SECONDS);
  if (night === null) return null;
  let heldAt = performance.now();
  const report = await reconcile(tools, {
    slots: ALL_SLOTS,
    subscription: null,
    extent: "lately changed",
    since: new Date(Date.now() - LOOK_BACK_DAYS * DAY_MS),
    dryRun: false,
    isStopping,
    progressed: async () => {
      if (performance.now() - heldAt < HOLD_EVERY_MS) return;
      heldAt = performance.now();
      await renewLease(database, night, LEASE_SECONDS);
    },
  });
  // One that was cut short is taken up again by whoever finds its lease ended.
  if (!isStopping()) await finishNight(database, night);
  return report;
}
