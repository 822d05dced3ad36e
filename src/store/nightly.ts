import type { Queryable } from "./database.ts";

// A nightly run belongs to the day that starts at 03:00 UTC.
const TONIGHT = "((clock_timestamp() at time zone 'utc') - interval '3 hours')::date";

const TAKE = {
  name: "take_night",
  text: `
with old as (
  delete from nightly_reconcile where night < ${TONIGHT} - 30
)
insert into nightly_reconcile as n (night, lease_until)
values (${TONIGHT}, clock_timestamp() + $1::float8 * interval '1 second')
on conflict (night) do update set lease_until = excluded.lease_until
where n.finished_at is null and n.lease_until < clock_timestamp()
returning night::text`,
};

/** Acquires the night's lease: one process of several gets it. `null`: another one is running it, or it is done. */
export async function acquireLease(database: Queryable, leaseSeconds: number): Promise<string | null> {
  const [row] = await database.run<{ night: string }>(TAKE, [leaseSeconds]);
  return row?.night ?? null;
}

const HOLD = {
  name: "hold_night",
  text: `
update nightly_reconcile set lease_until = clock_timestamp() + $2::float8 * interval '1 second'
where night = $1::date`,
};

/** Renews the lease during a long run. */
export async function renewLease(database: Queryable, night: string, leaseSeconds: number): Promise<void> {
  await database.run(HOLD, [night, leaseSeconds]);
}

const FINISH = {
  name: "finish_night",
  text: "update nightly_reconcile set finished_at = clock_timestamp() where night = $1::date",
};

export async function finishNight(database: Queryable, night: string): Promise<void> {
  await database.run(FINISH, [night]);
}
