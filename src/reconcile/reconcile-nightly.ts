import { acquireLease, finishNight, renewLease } from "../store/nightly.ts";
import {
  ALL_SLOTS,
  LOOK_BACK_DAYS,
  type ReconcileReport,
  type ReconcileTools,
  reconcile,
  type SlotReport,
} from "./reconcile.ts";

const LEASE_SECONDS = 10 * 60;
const HOLD_EVERY_MS = 60_000;
const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * The nightly run: ingests events missed in the last week, and compares subscriptions that are flagged or changed
 * lately. One process runs it, under a lease; it is done once every configured provider has answered, else retried
 * when the lease ends. `null`: done, or another process is running it.
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
    by: "server",
    isStopping,
    progressed: async () => {
      if (performance.now() - heldAt < HOLD_EVERY_MS) return;
      heldAt = performance.now();
      await renewLease(database, night, LEASE_SECONDS);
    },
  });
  if (!isStopping() && unreachedSlots(tools, report).length === 0) await finishNight(database, night);
  return report;
}

/** The slots whose provider could not be reached. */
export function unreachedSlots({ payments }: ReconcileTools, { slots }: ReconcileReport): SlotReport[] {
  return slots.filter(({ slot, problem }) => problem !== null && payments[slot] !== null);
}
