import type { Queryable } from "../database.ts";
import type { UnreadableSet } from "./written-events.ts";

const SET_ASIDE = {
  name: "set_aside_unreadable_changes",
  text: `
with taken as (
  delete from outbound_change_set where seq = any ($1::bigint[]) returning *
)
insert into outbound_unreadable_set (seq, changes_count, occurred_at, created_at, changes, error)
select t.seq, t.changes_count, t.occurred_at, t.created_at, t.changes, input.error
from taken t join unnest($1::bigint[], $2::text[]) as input (seq, error) on input.seq = t.seq`,
};

/** Keeps the rows for whoever can read or repair them. */
export function setAsideUnreadable(
  transaction: Queryable,
  sets: readonly UnreadableSet[],
): Promise<unknown>[] {
  if (sets.length === 0) return [];
  return [transaction.run(SET_ASIDE, [sets.map(({ seq }) => seq), sets.map(({ error }) => error)])];
}
