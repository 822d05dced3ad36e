import type { PaymentApi } from "../domain/providers/payment-api.ts";
import { isPaymentApiProblem } from "../domain/providers/payment-api-problem.ts";
import type { Slot } from "../domain/slot.ts";
import { DatabaseUnavailable } from "../store/database.ts";
import {
  findSweepCursor,
  finishSweep,
  type SweepCursor,
  type SweepOutcome,
} from "../store/deliveries/event-sweeps.ts";
import type { Lease } from "../store/leases.ts";
import { type ChangedReport, compareChanged } from "./compare-changed.ts";
import { ingestMissed, type MissedReport } from "./ingest-missed.ts";
import type { ReconcileTools } from "./reconcile-tools.ts";
import { workOnSlots } from "./work-on-slots.ts";

export type SweepOptions = {
  everySeconds: number;
  /** Called after each sweep of a slot: those of the others may take minutes. */
  swept: (result: SweepResult) => void;
  isStopping: () => boolean;
  lease: Lease;
};

/** Providers list events with a delay, and not strictly in order. */
const OVERLAP_MS = 10 * 60 * 1000;
/** Newer events are left to their webhooks, which are usually on the way. */
const MIN_AGE_MS = 30 * 1000;
/** The nightly run covers whatever happened before the first sweep. */
const FIRST_LOOK_BACK_MS = 60 * 60 * 1000;

export type SweepResult =
  | {
      slot: Slot;
      /** `null`: the provider lists no events. */
      report: MissedReport | null;
      /**
       * Where events may be missing from the list: the subscriptions that have changed; `null`: not compared.
       */
      changed: ChangedReport | null;
      isEndpointDisabled: boolean;
    }
  | { slot: Slot; problem: string };

/**
 * Ingests events that are missing from the log: those since the stored cursor, then the ten minutes before it
 * again. Compares changed subscriptions instead if the provider lists no events, and as well if it has
 * disabled our endpoint and so makes no events. After a failure of the provider or the database the next sweep
 * starts from the same cursor. While the sweep of a slot lasts, the others are swept again when they are due.
 * Returns whether all sweeps have succeeded.
 * @throws DatabaseUnavailable when not even that can be stored; what was missing before the ten minutes is then
 * left to the nightly run
 */
export async function sweepMissed(tools: ReconcileTools, options: SweepOptions): Promise<boolean> {
  const { isStopping, everySeconds, swept } = options;
  let haveSucceeded = true;
  const sweptAt = new Map<Slot, number>();
  // By its cursor alone, a slot whose sweep has failed would be due at once.
  const isTooSoon = (slot: Slot) => {
    const at = sweptAt.get(slot);
    return at !== undefined && performance.now() - at < everySeconds * 1000;
  };
  await workOnSlots(async (slot) => {
    const api = tools.payments[slot];
    if (api === null || isStopping() || isTooSoon(slot)) return null;
    const cursor = await findSweepCursor(tools.intake.database, slot);
    if (!isDue(cursor, options)) return null;
    return async (isStopping) => {
      const result = await sweepSlot(tools, slot, { ...options, api, cursor, isStopping });
      sweptAt.set(slot, performance.now());
      if ("problem" in result) haveSucceeded = false;
      swept(result);
    };
  }, isStopping);
  return haveSucceeded;
}

async function sweepSlot(
  { intake }: ReconcileTools,
  slot: Slot,
  { api, cursor, isStopping, lease }: SweepOptions & { api: PaymentApi; cursor: SweepCursor },
): Promise<SweepResult> {
  const finish = (outcome: SweepOutcome) => finishSweep(intake.database, slot, outcome, lease);
  const sweptUntilMs = cursor.nowMs - MIN_AGE_MS;
  const ingestOptions = { isTooYoung: youngerThan(cursor), dryRun: false, isStopping };
  try {
    const since = new Date((cursor.sweptUntilMs ?? cursor.nowMs - FIRST_LOOK_BACK_MS) - OVERLAP_MS);
    const isEndpointDisabled = (await api.isEndpointDisabled?.()) ?? false;
    // Also in the first sweep after the endpoint was enabled again: before that no events were made.
    const mayLackEvents = api.listEvents === null || isEndpointDisabled || cursor.wasEndpointDisabled;
    const ingestSince = (from: Date) =>
      api.listEvents
        ? ingestMissed(intake, slot, api.listEvents, { ...ingestOptions, since: from })
        : Promise.resolve(null);
    let fresh: MissedReport | null = null;
    if (cursor.sweptUntilMs !== null && !mayLackEvents) {
      fresh = await ingestSince(new Date(cursor.sweptUntilMs));
      // Stored now: reading the overlap may take long, and a process that ends meanwhile must not start over.
      if (!isStopping()) await finish({ sweptUntilMs, isEndpointDisabled: null, problem: null });
    }
    const report = addedTo(fresh, await ingestSince(since));
    const changed = mayLackEvents
      ? await compareChanged(intake, slot, api, { since, dryRun: false, by: "server", isStopping })
      : null;
    const interrupted = { sweptUntilMs: null, isEndpointDisabled: null };
    const sweep = { sweptUntilMs, isEndpointDisabled };
    await finish({ ...(isStopping() ? interrupted : sweep), problem: null });
    return { slot, report, changed, isEndpointDisabled };
  } catch (error) {
    if (error instanceof DatabaseUnavailable) {
      const problem = `the database is unavailable or too slow: ${error.message}`;
      // Back to the old cursor: what was found missing may lie before it.
      await finish({ sweptUntilMs: cursor.sweptUntilMs, isEndpointDisabled: null, problem });
      return { slot, problem };
    }
    if (!isPaymentApiProblem(error)) throw error;
    const { message: problem } = error;
    await finish({ sweptUntilMs: null, isEndpointDisabled: null, problem });
    return { slot, problem };
  }
}

/** The second pass lists what the first one has listed too. */
function addedTo(first: MissedReport | null, second: MissedReport | null): MissedReport | null {
  if (first === null || second === null) return second;
  return {
    listed: second.listed,
    missed: first.missed + second.missed,
    applied: first.applied + second.applied,
    ignored: first.ignored + second.ignored,
    failed: first.failed + second.failed,
  };
}

/** Another process may have swept the slot since this one did. */
function isDue({ sweptUntilMs, nowMs }: SweepCursor, { everySeconds }: SweepOptions): boolean {
  return sweptUntilMs === null || nowMs - (sweptUntilMs + MIN_AGE_MS) >= everySeconds * 1000;
}

/** An event from far in the future means that the provider's clock is off: waiting would not help. */
function youngerThan({ nowMs }: SweepCursor): (occurredAtMicros: number | null) => boolean {
  return (occurredAtMicros) => {
    if (occurredAtMicros === null) return false;
    const ageMs = nowMs - occurredAtMicros / 1000;
    return ageMs < MIN_AGE_MS && ageMs > -OVERLAP_MS;
  };
}
