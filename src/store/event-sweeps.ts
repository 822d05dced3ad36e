import type { Slot } from "../domain/slot.ts";
import type { Queryable } from "./database.ts";

const ACQUIRE = {
  name: "acquire_sweep",
  text: `
insert into event_sweep as s (provider, lease_until)
values ($1, clock_timestamp() + $2::float8 * interval '1 second')
on conflict (provider) do update set lease_until = excluded.lease_until where s.lease_until <= clock_timestamp()
returning extract(epoch from swept_until)::float8 * 1000 as "sweptUntilMs",
  extract(epoch from clock_timestamp())::float8 * 1000 as "nowMs"`,
};

export type SweepLease = { sweptUntilMs: number | null; nowMs: number };

/** `null`: another process is sweeping this slot, or just has. Times are the database's, in milliseconds. */
export async function acquireSweep(
  database: Queryable,
  slot: Slot,
  { leaseSeconds }: { leaseSeconds: number },
): Promise<SweepLease | null> {
  const [row] = await database.run<SweepLease>(ACQUIRE, [slot, leaseSeconds]);
  return row ?? null;
}

const FINISH = {
  name: "finish_sweep",
  text: `
update event_sweep set
  swept_until = coalesce(to_timestamp($2::float8 / 1000), swept_until),
  lease_until = clock_timestamp() + $3::float8 * interval '1 second',
  last_problem = left($4, 500)
where provider = $1`,
};

/** @param sweptUntilMs `null` when it failed: the next sweep starts from the same position */
export async function finishSweep(
  database: Queryable,
  slot: Slot,
  {
    sweptUntilMs,
    nextInSeconds,
    problem,
  }: { sweptUntilMs: number | null; nextInSeconds: number; problem: string | null },
): Promise<void> {
  await database.run(FINISH, [slot, sweptUntilMs, nextInSeconds, problem]);
}
