import type { Slot } from "../../domain/slot.ts";
import type { Queryable } from "../database.ts";
import { heldLease, type Lease } from "../leases.ts";

// A nightly run belongs to the day that starts at 03:00 UTC.
const TONIGHT = "((clock_timestamp() at time zone 'utc') - interval '3 hours')::date";

// A process of an earlier release runs it under `lease_until`, and finishes it without naming slots.
const FIND_DUE = {
  name: "find_due_night",
  text: `
select night::text, coalesce((
  select array_agg(slot) from unnest($1::text[]) slot where slot <> all (coalesce(compared, '{}'))
), '{}') as slots
from (select ${TONIGHT} as night) tonight left join nightly_reconcile using (night)
where not coalesce(lease_until > clock_timestamp() or (finished_at is not null and compared is null), false)`,
};

/** `slots`: those that are still to be compared. */
export type DueNight = { night: string; slots: Slot[] };

/** Tonight's run of these slots. `null`: it is done. */
export async function findDueNight(database: Queryable, slots: readonly Slot[]): Promise<DueNight | null> {
  const [row] = await database.run<DueNight>(FIND_DUE, [slots]);
  return row === undefined || row.slots.length === 0 ? null : row;
}

const FINISH = {
  name: "finish_night",
  text: `
with ${heldLease("$3", "$4")}, old as (
  delete from nightly_reconcile where night < $1::date - 30 and exists (select from held)
)
insert into nightly_reconcile as n (night, finished_at, compared)
select $1::date, clock_timestamp(), $2::text[] from held
on conflict (night) do update set
  finished_at = excluded.finished_at,
  compared = array(select distinct unnest(coalesce(n.compared, '{}') || excluded.compared))`,
};

/** Stores that these slots have been compared. */
export async function finishNight(
  database: Queryable,
  { night, slots }: DueNight,
  { name, token }: Lease,
): Promise<void> {
  await database.run(FINISH, [night, slots, name, token]);
}
