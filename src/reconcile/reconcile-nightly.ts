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
 * The nightly run: ingests what was missed in the last week, and compares what is flagged or has changed of late. One
 * process of several does it; one that dies over it is relieved. It counts as done once every configured provider has
 * answered: else it stays open and is tried again when its lease ends. `null`: it is done, or another process is at it.
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

/** The slots that have a provider which could not be asked. */
export function unreachedSlots({ payments }: ReconcileTools, { slots }: ReconcileReport): SlotReport[] {
  return slots.filter(({ slot, problem }) => problem !== null && payments[slot] !== null);
}
