import type { Queryable } from "../database.ts";

const LOCK = {
  name: "lock_outbound_relay_state",
  text: `
select last_position as "lastPosition", relayed_up_to as "relayedUpTo", case
  when next_relayed_xid <= pg_snapshot_xmin(pg_current_snapshot()) then next_relayed_until else relayed_up_to
  end as "nextRelayedUntil"
from outbound_relay where only_one for update skip locked`,
};

export type RelayState = {
  /** The last position given. */
  lastPosition: bigint;
  /** Everything with a `seq` up to this one has been relayed. */
  relayedUpTo: string;
  /** The same, once everything that is visible now has been relayed. */
  nextRelayedUntil: string;
};

/** `null`: another process is relaying. The lock ends with the transaction. */
export async function lockRelay(transaction: Queryable): Promise<RelayState | null> {
  type Row = { lastPosition: string; relayedUpTo: string; nextRelayedUntil: string };
  const [row] = await transaction.run<Row>(LOCK);
  return row ? { ...row, lastPosition: BigInt(row.lastPosition) } : null;
}

const LAST_POSITION = {
  name: "last_outbound_position",
  text: `select last_position as "lastPosition" from outbound_relay where only_one`,
};

export async function lastPosition(database: Queryable): Promise<bigint> {
  const [row] = await database.run<{ lastPosition: string }>(LAST_POSITION);
  return BigInt(row?.lastPosition ?? 0);
}

const WAIT = {
  name: "wait_for_outbound_relay",
  text: "select from outbound_relay where only_one for update",
};

/** Keeps the relay out until the end of the transaction. */
export async function waitForRelay(transaction: Queryable): Promise<void> {
  await transaction.run(WAIT);
}

// A transaction that may still commit a `seq` up to `last_relayed` got its id before this one, as it was
// writing already. Once all transactions with lower ids have ended, no such `seq` can appear. An id from the
// future comes from the cluster that a dump was made of.
const ADVANCE = {
  name: "advance_outbound_relay_state",
  text: `
update outbound_relay
set last_position = $1::bigint, relayed_up_to = $2::bigint, last_relayed = greatest(last_relayed, $3::bigint),
  next_relayed_until = case when next_relayed_until > $2::bigint then next_relayed_until else last_relayed end,
  next_relayed_xid = case when next_relayed_until > $2::bigint then least(next_relayed_xid, pg_current_xact_id())
    else pg_current_xact_id() end
where only_one`,
};

/** Stores how far the relay has come, at the end of its transaction. */
export async function advanceRelay(
  transaction: Queryable,
  { lastPosition, relayedUpTo, lastSeq }: { lastPosition: bigint; relayedUpTo: string; lastSeq: string },
): Promise<void> {
  await transaction.run(ADVANCE, [lastPosition, relayedUpTo, lastSeq]);
}
