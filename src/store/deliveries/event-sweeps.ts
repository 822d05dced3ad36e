import type { Slot } from "../../domain/slot.ts";
import type { Queryable } from "../database.ts";
import { heldLease, type Lease } from "../leases.ts";

/** Times are the database's, in milliseconds. */
export type SweepCursor = { sweptUntilMs: number | null; nowMs: number; wasEndpointDisabled: boolean };

// A clock that was ahead has left one in the future, which would be waited for.
const FIND = {
  name: "find_sweep_cursor",
  text: `
select (
    select extract(epoch from swept_until)::float8 * 1000 from event_sweep
    where provider = $1 and swept_until <= clock_timestamp()
  ) as "sweptUntilMs",
  extract(epoch from clock_timestamp())::float8 * 1000 as "nowMs",
  exists (select from event_sweep where provider = $1 and endpoint_disabled) as "wasEndpointDisabled"`,
};

/** `sweptUntilMs` is `null` before the first sweep, and if the clock has been set back behind the last one. */
export async function findSweepCursor(database: Queryable, slot: Slot): Promise<SweepCursor> {
  const [cursor] = await database.run<SweepCursor>(FIND, [slot]);
  return cursor as SweepCursor;
}

const FINISH = {
  name: "finish_sweep",
  text: `
with ${heldLease("$5", "$6")}
insert into event_sweep as s (provider, swept_until, last_problem, endpoint_disabled)
select $1, to_timestamp($2::float8 / 1000), left($3, 500), coalesce($4::boolean, false) from held
on conflict (provider) do update set
  swept_until = coalesce(excluded.swept_until, s.swept_until), last_problem = excluded.last_problem,
  endpoint_disabled = coalesce($4::boolean, s.endpoint_disabled)`,
};

export type SweepOutcome = {
  /** `null` when it failed: the next sweep starts from the same position. */
  sweptUntilMs: number | null;
  problem: string | null;
  /** `null`: as before. */
  isEndpointDisabled: boolean | null;
};

export async function finishSweep(
  database: Queryable,
  slot: Slot,
  { sweptUntilMs, problem, isEndpointDisabled }: SweepOutcome,
  { name, token }: Lease,
): Promise<void> {
  await database.run(FINISH, [slot, sweptUntilMs, problem, isEndpointDisabled, name, token]);
}
