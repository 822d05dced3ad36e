import type { SubscriptionChange } from "../../domain/outbound/subscription-change.ts";
import type { Queryable } from "../database.ts";
import { encodeChanges } from "./change-set.ts";

/** Changes per row. The relay takes whole rows, and so at most this many beyond its batch. */
const MAX_CHANGES = 100;

// The times are the subscriptions' own.
const INSERT = {
  name: "insert_outbound_changes",
  text: `
insert into outbound_change_set (changes_count, changes, occurred_at, created_at)
select count(*), $1::bytea,
  array_agg(date_part('epoch', s.updated_at) order by input.place),
  array_agg(date_part('epoch', s.created_at) order by input.place)
from unnest($2::uuid[]) with ordinality as input (subscription_id, place)
cross join lateral (
  select created_at, updated_at from subscription where id = input.subscription_id offset 0
) s`,
};

/**
 * Writes the changes that events report, in the order of the list, for the relay. The subscriptions must have
 * been written in the same transaction. Sends nothing when there is nothing to report.
 */
export function insertOutboundChanges(
  transaction: Queryable,
  changes: readonly SubscriptionChange[],
): Promise<unknown>[] {
  const reported = changes.flatMap(({ type, before, after }) =>
    type === null ? [] : { type, before, after },
  );
  const inserts: Promise<unknown>[] = [];
  for (let start = 0; start < reported.length; start += MAX_CHANGES) {
    const set = reported.slice(start, start + MAX_CHANGES);
    inserts.push(transaction.run(INSERT, [encodeChanges(set), set.map(({ after }) => after.id)]));
  }
  return inserts;
}
