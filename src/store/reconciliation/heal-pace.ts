import type { Slot } from "../../domain/slot.ts";
import type { Queryable } from "../database.ts";

// A few are reserved at a time: one that is minutes away comes from a clock that was ahead.
const RESERVE = {
  name: "reserve_fetch",
  text: `
insert into heal_pace as p (provider, next_fetch_at)
values ($1, clock_timestamp() + $2::float8 * interval '1 second')
on conflict (provider) do update set
  next_fetch_at = greatest(
    case when p.next_fetch_at < clock_timestamp() + interval '1 minute' then p.next_fetch_at end, clock_timestamp()
  ) + $2::float8 * interval '1 second'
returning greatest(0, extract(epoch from next_fetch_at - clock_timestamp()) - $2::float8)::float8 * 1000 as wait_ms`,
};

/** Reserves the next request to a slot's provider; returns how long to wait for it. */
export async function reserveFetch(
  database: Queryable,
  slot: Slot,
  { fetchesPerSecond }: { fetchesPerSecond: number },
): Promise<{ waitMs: number }> {
  const [row] = await database.run<{ wait_ms: number }>(RESERVE, [slot, 1 / fetchesPerSecond]);
  return { waitMs: row?.wait_ms ?? 0 };
}
