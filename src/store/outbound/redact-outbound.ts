import type { Queryable, Statement } from "../database.ts";
import { decodeChanges, encodeChanges, type RecordedChange } from "./change-set.ts";
import { emptyIfUnreadable } from "./empty-if-unreadable.ts";
import { redactEventsOfUser } from "./outbound-events.ts";
import { redactPacksOfUser } from "./redact-event-packs.ts";
import { lastPosition, waitForRelay } from "./relay-state.ts";

/**
 * Removes a deleted user from all events and from changes that are not relayed yet. Keeps the relay out from
 * then on.
 */
export async function redactOutbound(transaction: Queryable, userId: string): Promise<void> {
  const relayed = await lastPosition(transaction);
  await redactPacksOfUser(transaction, userId, { after: 0n });
  // While it waits, only what it has relayed meanwhile is read.
  await waitForRelay(transaction);
  await redactPacksOfUser(transaction, userId, { after: relayed });
  await redactEventsOfUser(transaction, userId);
  await transaction.run(REDACT_CHANGES, [userId]);
  await redactChangeSets(transaction, WAITING_SETS, userId);
  await redactChangeSets(transaction, SETS_ASIDE, userId);
}

const REDACT_CHANGES = {
  name: "redact_outbound_changes",
  text: `
update outbound_change
set user_id = nullif(user_id, $1::text), before_user_id = nullif(before_user_id, $1::text)
where (user_id = $1::text or before_user_id = $1::text)
  and seq > (select relayed_up_to from outbound_relay where only_one)`,
};

const WAITING_SETS = {
  list: {
    name: "outbound_change_sets_after",
    text: `
select seq, changes from outbound_change_set
where seq > greatest($1::bigint, (select relayed_up_to from outbound_relay where only_one))
order by seq limit $2::int`,
  },
  replace: {
    name: "replace_outbound_change_set",
    text: "update outbound_change_set set changes = $2::bytea where seq = $1::bigint",
  },
};

/** What a server of another release has set aside may be readable to this one, and be given back. */
const SETS_ASIDE = {
  list: {
    name: "outbound_unreadable_sets_after",
    text: "select seq, changes from outbound_unreadable_set where seq > $1::bigint order by seq limit $2::int",
  },
  replace: {
    name: "replace_outbound_unreadable_set",
    text: "update outbound_unreadable_set set changes = $2::bytea where seq = $1::bigint",
  },
};

const BATCH = 500;

async function redactChangeSets(
  transaction: Queryable,
  { list, replace }: { list: Statement; replace: Statement },
  userId: string,
): Promise<void> {
  for (let after = "0"; ; ) {
    const sets = await transaction.run<{ seq: string; changes: Buffer }>(list, [after, BATCH]);
    for (const { seq, changes: encoded } of sets) {
      const changes = emptyIfUnreadable(() => decodeChanges(encoded));
      if (changes.some(({ before, after }) => before?.userId === userId || after.userId === userId))
        await transaction.run(replace, [
          seq,
          encodeChanges(changes.map((change) => withoutUser(change, userId))),
        ]);
      after = seq;
    }
    if (sets.length < BATCH) return;
  }
}

function withoutUser({ type, before, after }: RecordedChange, userId: string): RecordedChange {
  return {
    type,
    before: before?.userId === userId ? { ...before, userId: null } : before,
    after: after.userId === userId ? { ...after, userId: null } : after,
  };
}
