import { randomBytes } from "node:crypto";
import type { Database } from "../store/database.ts";
import {
  lockRelay,
  type PositionedEvent,
  positionEvents,
  type WrittenEvent,
  writtenEvents,
} from "../store/outbound-relay.ts";
import { inTransaction, type TransactionOptions } from "../store/transaction.ts";
import { eventId } from "./event-id.ts";
import type { OutboundMilestone } from "./milestone.ts";

const BATCH = 500;

const LIMITS: TransactionOptions = {
  synchronousCommit: "on",
  lockTimeoutMs: 2_000,
  statementTimeoutMs: 10_000,
  idleTimeoutMs: 5_000,
};

export type Relay = { database: Database; reached?: (milestone: OutboundMilestone) => void | Promise<void> };

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

function relayBatch({ database, reached }: Relay): Promise<number> {
  return inTransaction(database, LIMITS, async (transaction) => {
    const lastPosition = await lockRelay(transaction);
    if (lastPosition === null) return 0;
    const written = await writtenEvents(transaction, BATCH);
    if (written.length === 0) return 0;
    const events = written.map((one, index) => completed(one, lastPosition + BigInt(index) + 1n));
    const writes = positionEvents(transaction, events);
    for (const write of writes) write.catch(() => {});
    await reached?.("positions given");
    await transaction.commitAfter(writes);
    await reached?.("relayed");
    return events.length;
  });
}

/** With what the intake leaves out because it can be looked up later. */
function completed(written: WrittenEvent, position: bigint): PositionedEvent {
  const { seq, type, subject, occurredAt } = written;
  const id = eventId(position, randomBytes(6));
  const { userId, data } = completedData(written);
  return { seq, position, id, type, subject, occurredAt, userId, data };
}

type Shown = { userId?: string | null } & Record<string, unknown>;

function completedData({ type, data, occurredAt, createdAt, externalId }: WrittenEvent) {
  // The event of a deletion has to name who it was.
  if (type === "user.deleted") return { userId: null, data };
  if (type.startsWith("user.")) return { userId: data.id as string, data };
  const {
    subscription,
    userId: named = null,
    externalId: _,
    ...rest
  } = data as Shown & { subscription?: Shown };
  const userId = subscription ? (subscription.userId ?? null) : named;
  return {
    userId,
    data: {
      userId,
      externalId,
      ...(subscription ? { subscription: { ...subscription, createdAt, updatedAt: occurredAt } } : {}),
      ...rest,
    },
  };
}
