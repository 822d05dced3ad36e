import type { Slot } from "../domain/slot.ts";
import type { Queryable } from "./database.ts";
import type { ReconcilableSubscription } from "./reconciliations.ts";
import { VERSION } from "./reconciliations.ts";

export type DueHeal = ReconcilableSubscription & {
  attempts: number;
  userId: string | null;
  customerId: string | null;
  /** Else a comparison was requested of a subscription that is not flagged. */
  isFlagged: boolean;
};

const DUE_COLUMNS = `s.id, s.provider, s.provider_subscription_id, s.user_id, s.customer_id, s.out_of_order,
    ${VERSION} as version`;

const CLAIM = {
  name: "claim_due_heals",
  text: `
with flagged as materialized (
  select ${DUE_COLUMNS}
  from subscription s left join subscription_heal h on h.subscription_id = s.id
  where s.out_of_order and s.provider = $1 and s.provider_subscription_id is not null
    and (h.subscription_id is null or h.settled_version is distinct from ${VERSION})
    and coalesce(h.next_attempt_at, '-infinity') <= clock_timestamp()
  order by h.next_attempt_at nulls first, s.id
  limit $3::int
), requested as materialized (
  select ${DUE_COLUMNS}
  from subscription_heal h join subscription s on s.id = h.subscription_id
  where h.requested and h.next_attempt_at <= clock_timestamp() and s.provider = $1
    and (not s.out_of_order or s.provider_subscription_id is null)
    and h.settled_version is distinct from ${VERSION}
  order by h.next_attempt_at, s.id
  limit $3::int
), due as materialized (
  select * from flagged union all select * from requested limit $3::int
), claimed as (
  insert into subscription_heal as h (subscription_id, attempts, next_attempt_at)
  select id, 1, clock_timestamp() + $2::float8 * interval '1 second' from due
  on conflict (subscription_id) do update set
    attempts = case when h.settled_version is null then h.attempts + 1 else 1 end,
    next_attempt_at = excluded.next_attempt_at,
    settled_version = null
  where h.next_attempt_at <= clock_timestamp()
  returning h.subscription_id, h.attempts
)
select due.id, due.provider, due.provider_subscription_id as "providerSubscriptionId", due.version,
  due.user_id as "userId", due.customer_id as "customerId", due.out_of_order as "isFlagged", claimed.attempts
from claimed join due on due.id = claimed.subscription_id`,
};

// Claimed from a snapshot in which another process had not finished yet.
const STILL_DUE = {
  name: "still_due",
  text: `
with done as (
  delete from subscription_heal h using subscription s
  where h.subscription_id = any ($1::uuid[]) and s.id = h.subscription_id and not s.out_of_order and not h.requested
)
select id from subscription where id = any ($1::uuid[]) and out_of_order
union
select subscription_id from subscription_heal where subscription_id = any ($1::uuid[]) and requested`,
};

/**
 * Claims a slot's subscriptions that are due for comparison, flagged or requested, for this process alone until the
 * lease ends.
 */
export async function claimDueHeals(
  database: Queryable,
  slot: Slot,
  { leaseSeconds, limit }: { leaseSeconds: number; limit: number },
): Promise<DueHeal[]> {
  const claimed = await database.run<DueHeal>(CLAIM, [slot, leaseSeconds, limit]);
  if (claimed.length === 0) return [];
  const flagged = await database.run<{ id: string }>(STILL_DUE, [claimed.map(({ id }) => id)]);
  return claimed.filter((one) => flagged.some(({ id }) => id === one.id));
}

const REQUEST = {
  name: "request_heals",
  text: `
insert into subscription_heal as h (subscription_id, attempts, next_attempt_at, requested)
select id, 0, clock_timestamp() + $2::float8 * interval '1 second', true
from subscription where id = any ($1::uuid[]) order by id
on conflict (subscription_id) do update set requested = true where not h.requested`,
};

/** Requests a comparison of subscriptions that are not flagged. One that is waiting already keeps its time. */
export async function requestHeals(
  database: Queryable,
  ids: readonly string[],
  { inSeconds }: { inSeconds: number },
): Promise<void> {
  await database.run(REQUEST, [ids, inSeconds]);
}

const FINISH = {
  name: "finish_heal",
  text: "delete from subscription_heal where subscription_id = any (array[$1::uuid])",
};

export async function finishHeal(database: Queryable, id: string): Promise<void> {
  await database.run(FINISH, [id]);
}

const POSTPONE = {
  name: "postpone_heal",
  text: `
update subscription_heal
set next_attempt_at = clock_timestamp() + $2::float8 * interval '1 second', last_problem = left($3, 500)
where subscription_id = any (array[$1::uuid])`,
};

export async function postponeHeal(
  database: Queryable,
  id: string,
  { seconds, problem }: { seconds: number; problem: string },
): Promise<void> {
  await database.run(POSTPONE, [id, seconds, problem]);
}

const SETTLE = {
  name: "settle_heal",
  text: `
update subscription_heal
set settled_version = $2, next_attempt_at = clock_timestamp(), last_problem = left($3, 500)
where subscription_id = any (array[$1::uuid])`,
};

/** The provider knows nothing about this subscription: it is not fetched again before its next event. */
export async function settleHeal(
  database: Queryable,
  { id, version }: Pick<DueHeal, "id" | "version">,
  problem: string,
): Promise<void> {
  await database.run(SETTLE, [id, version, problem]);
}

const RESERVE = {
  name: "reserve_fetch",
  text: `
insert into heal_pace as p (provider, next_fetch_at)
values ($1, clock_timestamp() + $2::float8 * interval '1 second')
on conflict (provider) do update set
  next_fetch_at = greatest(p.next_fetch_at, clock_timestamp()) + $2::float8 * interval '1 second'
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

const COUNT = {
  name: "count_flagged",
  text: `
select s.provider, count(*)::int as flagged, count(h.settled_version)::int as settled
from subscription s left join subscription_heal h on h.subscription_id = s.id
where s.out_of_order group by s.provider`,
};

export type FlaggedCount = { provider: Slot; flagged: number; settled: number };

/** How many subscriptions of each slot are flagged, and how many of them the provider does not know. */
export async function countFlagged(database: Queryable): Promise<FlaggedCount[]> {
  return database.run<FlaggedCount>(COUNT);
}
