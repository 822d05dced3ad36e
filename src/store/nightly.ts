import type { Queryable } from "./database.ts";
import { heldLease, type Lease } from "./leases.ts";

// A nightly run belongs to the day that starts at 03:00 UTC.
const TONIGHT = "((clock_timestamp() at time zone 'utc') - interval '3 hours')::date";

// A process of an earlier release runs it under `lease_until`.
const IS_DUE = {
  name: "is_night_due",
  text: `
select not exists (
  select from nightly_reconcile
  where night = ${TONIGHT} and (finished_at is not null or lease_until > clock_timestamp())
) as due, ${TONIGHT}::text as night`,
};

/** `null`: tonight's run is done. */
export async function dueNight(database: Queryable): Promise<string | null> {
  const [row] = await database.run<{ due: boolean; night: string }>(IS_DUE);
  return row?.due ? row.night : null;
}

const FINISH = {
  name: "finish_night",
  text: `
with ${heldLease("$2", "$3")}, old as (
  delete from nightly_reconcile where night < $1::date - 30 and exists (select from held)
)
insert into nightly_reconcile (night, finished_at)
select $1::date, clock_timestamp() from held
on conflict (night) do update set finished_at = excluded.finished_at`,
};

export async function finishNight(database: Queryable, night: string, { name, token }: Lease): Promise<void> {
  await database.run(FINISH, [night, name, token]);
}
