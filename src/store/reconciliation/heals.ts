import type { Slot } from "../../domain/slot.ts";
import type { Queryable } from "../database.ts";
import { heldLease, type Lease } from "../leases.ts";
import { type ReconcilableSubscription, VERSION } from "./reconciliations.ts";

export type DueHeal = ReconcilableSubscription & {
  attempts: number;
  userId: string | null;
  customerId: string | null;
  /** Whether an event or a change has requested the comparison. */
  isRequested: boolean;
  /** Of its row as the comparison was started: another request changes it. */
  startedVersion: string;
};

/** The pause doubles with each attempt. */
type HealRetries = { firstRetrySeconds: number; maxRetrySeconds: number };

// A pause longer than any was begun while the database's clock was ahead, as before a failover.
const IS_DUE = `(h.next_attempt_at <= clock_timestamp() or h.next_attempt_at > clock_timestamp() + interval '1 hour')`;

// Of the slots $1: flagged ones that the provider is not known to lack, and unflagged ones whose comparison an
// event or a change has requested.
const FLAGGED = `
  from subscription s left join subscription_heal h on h.subscription_id = s.id
  where s.out_of_order and s.provider = any ($1::text[]) and s.provider_subscription_id is not null
    and (h.subscription_id is null or h.settled_version is distinct from ${VERSION})
    and (h.next_attempt_at is null or ${IS_DUE})`;
const REQUESTED = `
  from subscription_heal h join subscription s on s.id = h.subscription_id
  where h.requested and ${IS_DUE} and s.provider = any ($1::text[])
    and (not s.out_of_order or s.provider_subscription_id is null)
    and h.settled_version is distinct from ${VERSION}`;

const HAS_DUE = {
  name: "has_due_heals",
  text: `select exists (select ${FLAGGED}) or exists (select ${REQUESTED}) as due`,
};

/** Whether any subscription of these slots is due for comparison. */
export async function hasDueHeals(database: Queryable, slots: readonly Slot[]): Promise<boolean> {
  const [row] = await database.run<{ due: boolean }>(HAS_DUE, [slots]);
  return row?.due ?? false;
}

const DUE_COLUMNS = `s.id, s.provider, s.provider_subscription_id, s.user_id, s.customer_id, coalesce(h.requested, false) as requested,
    ${VERSION} as version`;

// Counted before the comparison: one that ends the process uses up an attempt too, and is retried with the
// same back-off.
const START = {
  name: "start_due_heals",
  text: `
with ${heldLease("$4", "$5")}, flagged as materialized (
  select ${DUE_COLUMNS} ${FLAGGED}
  order by h.next_attempt_at nulls first, s.id
  limit $3::int
), requested as materialized (
  select ${DUE_COLUMNS} ${REQUESTED}
  order by h.next_attempt_at, s.id
  limit $3::int
), due as materialized (
  select found.* from (select * from flagged union all select * from requested) found
  where exists (select from held)
  limit $3::int
), started as (
  insert into subscription_heal as h (subscription_id, attempts, next_attempt_at)
  select id, 1, clock_timestamp() + $2::float8 * interval '1 second' from due
  on conflict (subscription_id) do update set
    attempts = case when h.settled_version is null then h.attempts + 1 else 1 end,
    next_attempt_at = clock_timestamp() + interval '1 second' *
      case when h.settled_version is null then least($2::float8 * 2 ^ least(h.attempts, 30), $6::float8) else $2 end,
    settled_version = null
  returning h.subscription_id, h.attempts, h.xmin::text as started_version
)
select due.id, due.provider, due.provider_subscription_id as "providerSubscriptionId", due.version,
  due.user_id as "userId", due.customer_id as "customerId", due.requested as "isRequested", started.attempts,
  started.started_version as "startedVersion"
from started join due on due.id = started.subscription_id`,
};

/**
 * A slot's subscriptions that are due for comparison, flagged or requested, each with its attempt counted.
 */
export async function startDueHeals(
  database: Queryable,
  slot: Slot,
  { firstRetrySeconds, maxRetrySeconds, limit }: HealRetries & { limit: number },
  { name, token }: Lease,
): Promise<DueHeal[]> {
  return database.run<DueHeal>(START, [[slot], firstRetrySeconds, limit, name, token, maxRetrySeconds]);
}

// Also while it may be under way: it may not see what is requested now, and is repeated then.
const REQUEST = {
  name: "request_heals",
  text: `
insert into subscription_heal as h (subscription_id, attempts, next_attempt_at, requested)
select id, 0, clock_timestamp() + $2::float8 * interval '1 second', true
from subscription where id = any ($1::uuid[]) order by id
on conflict (subscription_id) do update set requested = true
where not h.requested or h.attempts > 0`,
};

/**
 * Requests a comparison of subscriptions that are not flagged. One that is waiting already keeps its time.
 */
export async function requestHeals(
  database: Queryable,
  ids: readonly string[],
  { inSeconds }: { inSeconds: number },
): Promise<void> {
  await database.run(REQUEST, [ids, inSeconds]);
}

const FINISH = {
  name: "finish_heal",
  text: "delete from subscription_heal where subscription_id = any (array[$1::uuid]) and xmin::text = $2",
};

/** Unless it has been requested again since it was started. */
export async function finishHeal(
  database: Queryable,
  { id, startedVersion }: Pick<DueHeal, "id" | "startedVersion">,
): Promise<void> {
  await database.run(FINISH, [id, startedVersion]);
}

const DELETE = {
  name: "delete_heal",
  text: "delete from subscription_heal where subscription_id = any (array[$1::uuid])",
};

export async function deleteHeal(database: Queryable, id: string): Promise<void> {
  await database.run(DELETE, [id]);
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
