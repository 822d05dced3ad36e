import { randomBytes } from "node:crypto";
import type { PlanCatalog } from "../domain/plan.ts";
import type { Database } from "../store/database.ts";
import {
  advanceRelay,
  createDeliveries,
  dropWrittenEvents,
  lockRelay,
  type PositionedEvent,
  positionEvents,
  writtenEvents,
} from "../store/outbound-relay.ts";
import { inTransaction, type TransactionOptions } from "../store/transaction.ts";
import { completeEvents } from "./complete-events.ts";
import { EVENT_ID_RANDOM_BYTES, eventId } from "./event-id.ts";
import type { OutboundMilestone } from "./milestone.ts";

const BATCH = 500;

const LIMITS: TransactionOptions = {
  synchronousCommit: "on",
  lockTimeoutMs: 2_000,
  statementTimeoutMs: 10_000,
  idleTimeoutMs: 5_000,
};

export type Relay = {
  database: Database;
  plans: Pick<PlanCatalog, "plans">;
  reached?: (milestone: OutboundMilestone) => void | Promise<void>;
};

/**
 * Gives committed events their positions and creates their deliveries, one process at a time. After the commit, not in
 * the intake's transaction: numbers given there become visible in another order. Returns how many there were.
 */
export async function relayEvents(relay: Relay, isStopping: () => boolean = () => false): Promise<number> {
  let relayed = 0;
  for (;;) {
    const count = await relayBatch(relay);
    relayed += count;
    if (count < BATCH || isStopping()) return relayed;
  }
}

function relayBatch({ database, plans, reached }: Relay): Promise<number> {
  return inTransaction(database, LIMITS, async (transaction) => {
    const state = await lockRelay(transaction);
    if (state === null) return 0;
    const written = await writtenEvents(transaction, { limit: BATCH, scanFrom: state.scanFrom });
    const lastWritten = written.at(-1);
    if (lastWritten === undefined) return 0;
    const completed = await completeEvents(transaction, written, plans);
    const kept = completed.filter((event) => event !== null);
    const dropped = written.filter((_, index) => completed[index] === null).map(({ seq }) => seq);
    // One call for all: each costs more than its few bytes.
    const random = randomBytes(kept.length * EVENT_ID_RANDOM_BYTES);
    const events = kept.map((event, index): PositionedEvent => {
      const position = state.lastPosition + BigInt(index) + 1n;
      const start = index * EVENT_ID_RANDOM_BYTES;
      return {
        ...event,
        position,
        id: eventId(position, random.subarray(start, start + EVENT_ID_RANDOM_BYTES)),
      };
    });
    const writes = [
      ...(dropped.length > 0 ? [dropWrittenEvents(transaction, dropped)] : []),
      ...(events.length > 0
        ? [...positionEvents(transaction, events), ...createDeliveries(transaction, events)]
        : []),
      advanceRelay(transaction, {
        lastPosition: events.at(-1)?.position ?? state.lastPosition,
        scanFrom: written.length < BATCH ? state.nextScanFrom : state.scanFrom,
        lastSeq: lastWritten.seq,
      }),
    ];
    for (const write of writes) write.catch(() => {});
    await reached?.("positions given");
    await transaction.commitAfter(writes);
    await reached?.("relayed");
    return written.length;
  });
}
