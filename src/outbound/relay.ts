import { randomBytes } from "node:crypto";
import type { AccessContext } from "../domain/entitlements/granted-access.ts";
import type { Database } from "../store/database.ts";
import {
  createDeliveries,
  lockEndpoints,
  type PositionedEvent,
  storeEvents,
} from "../store/outbound/outbound-relay.ts";
import { advanceRelay, lockRelay } from "../store/outbound/relay-state.ts";
import { removeWritten } from "../store/outbound/remove-written.ts";
import { areAnyUnlinked, reportLinkedPayments } from "../store/outbound/unlinked-payments.ts";
import { setAsideUnreadable } from "../store/outbound/unreadable-changes.ts";
import { type UnreadableSet, writtenSince } from "../store/outbound/written-events.ts";
import { inTransaction, type TransactionOptions } from "../store/transaction.ts";
import { completeEvents } from "./complete-events.ts";
import { EVENT_ID_RANDOM_BYTES, eventId } from "./event-id.ts";
import type { OutboundMilestone } from "./milestone.ts";

/** In changes and events. */
const BATCH = 500;

const LIMITS: TransactionOptions = {
  synchronousCommit: "on",
  lockTimeoutMs: 2_000,
  statementTimeoutMs: 10_000,
  idleTimeoutMs: 5_000,
};

export type Relay = AccessContext & {
  database: Database;
  reached?: (milestone: OutboundMilestone) => void | Promise<void>;
  /** Called with what had to be set aside, so that the rest could be relayed. */
  onUnreadable?: (sets: readonly UnreadableSet[]) => void;
};

/**
 * Makes events of committed changes, gives all events their positions and creates their deliveries, one
 * process at a time. After the commit, not in the intake's transaction: numbers given there become visible in
 * another order. Returns how many events there were.
 */
export async function relayEvents(relay: Relay, isStopping: () => boolean = () => false): Promise<number> {
  let relayed = 0;
  for (;;) {
    const { events, isLast } = await relayBatch(relay, BATCH);
    relayed += events;
    if (isLast || isStopping()) return relayed;
  }
}

/**
 * Relays about as many changes and events as `limit` says. Returns how many events there were, and whether
 * nothing was left.
 */
export function relayBatch(
  { database, reached, onUnreadable, ...context }: Relay,
  limit: number,
): Promise<{ events: number; isLast: boolean }> {
  return inTransaction(database, LIMITS, async (transaction) => {
    const state = await lockRelay(transaction);
    if (state === null) return { events: 0, isLast: true };
    const { written, unreadable, lastSeq, isLast } = await writtenSince(transaction, {
      limit,
      after: state.relayedUpTo,
    });
    if (lastSeq === null) return { events: 0, isLast: true };
    const [completed, endpoints, areUnlinked] = await Promise.all([
      completeEvents(transaction, written, context),
      // After the changes were read: an endpoint gets every change that follows its creation.
      lockEndpoints(transaction),
      areAnyUnlinked(transaction),
    ]);
    // One call for all: each costs more than its few bytes.
    const random = randomBytes(completed.length * EVENT_ID_RANDOM_BYTES);
    const events = completed.map((event, index): PositionedEvent => {
      const position = state.lastPosition + BigInt(index) + 1n;
      const start = index * EVENT_ID_RANDOM_BYTES;
      return {
        ...event,
        position,
        id: eventId(position, random.subarray(start, start + EVENT_ID_RANDOM_BYTES)),
      };
    });
    const eventSeqs = new Set(events.map(({ seq }) => seq));
    const linked = reportLinkedPayments(transaction, completed, written, areUnlinked);
    const writes = [
      linked,
      ...removeWritten(
        transaction,
        // Changes, which have become events, and events that turned out to report no change.
        written.filter(({ kind, seq }) => kind !== "event" || !eventSeqs.has(seq)),
      ),
      ...setAsideUnreadable(transaction, unreadable),
      ...storeEvents(transaction, events),
      ...createDeliveries(transaction, events, endpoints),
      advanceRelay(transaction, {
        lastPosition: events.at(-1)?.position ?? state.lastPosition,
        relayedUpTo: isLast ? state.nextRelayedUntil : state.relayedUpTo,
        lastSeq,
      }),
    ];
    for (const write of writes) write.catch(() => {});
    await reached?.("positions given");
    await transaction.commitAfter(writes);
    if (unreadable.length > 0) onUnreadable?.(unreadable);
    await reached?.("relayed");
    return { events: events.length, isLast: isLast && (await linked) === 0 };
  });
}
