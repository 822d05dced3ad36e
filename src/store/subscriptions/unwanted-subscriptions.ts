import type { Slot } from "../../domain/slot.ts";
import { RUNNING_STATUSES } from "../../domain/subscriptions/subscription-status.ts";
import type { Queryable } from "../database.ts";
import { IS_ADMINISTRATOR } from "../users/bans.ts";
import { IS_ONE_TIME } from "./subscription-access.ts";

/** A subscription that is to be canceled. */
export type UnwantedSubscription = { provider: Slot; providerSubscriptionId: string };

/** `resumed`: after its account was deleted. What was paid for it before is not refunded. */
type Because = "account_deleted" | "paid_twice" | "resumed";

/**
 * `attempts`: this one included. `dueAgainAt`: another claim changes it, and so does whoever resumes what was canceled
 * meanwhile.
 */
export type ClaimedUnwanted = UnwantedSubscription & {
  because: Because;
  attempts: number;
  dueAgainAt: string;
};

const INSERT = {
  name: "insert_unwanted_subscriptions",
  text: `
insert into unwanted_subscription (provider, provider_subscription_id, because)
select provider, id, 'account_deleted' from unnest($1::text[], $2::text[]) as found (provider, id)
order by 1, 2
on conflict do nothing`,
};

/** For those that were paid for after their account was deleted. */
export async function insertUnwanted(
  database: Queryable,
  unwanted: readonly UnwantedSubscription[],
): Promise<void> {
  await database.run(INSERT, [
    unwanted.map(({ provider }) => provider),
    unwanted.map(({ providerSubscriptionId }) => providerSubscriptionId),
  ]);
}

// Several events of a group may report the same one: no statement can write a row twice.
const INSERT_RESUMED = {
  name: "insert_resumed_subscriptions",
  text: `
insert into unwanted_subscription as u (provider, provider_subscription_id, because)
select distinct provider, id, 'resumed' from unnest($1::text[], $2::text[]) as found (provider, id)
order by 1, 2
on conflict (provider, provider_subscription_id) do update set
  because = 'resumed', attempts = 0, next_attempt_at = clock_timestamp(), canceled_at = null, refunded = null,
  reported_at = null
where u.canceled_at is not null`,
};

/** For those of deleted accounts that are going to renew, also after they were canceled as unwanted before. */
export async function insertResumed(
  database: Queryable,
  resumed: readonly UnwantedSubscription[],
): Promise<void> {
  await database.run(INSERT_RESUMED, [
    resumed.map(({ provider }) => provider),
    resumed.map(({ providerSubscriptionId }) => providerSubscriptionId),
  ]);
}

const IS_UNWANTED = {
  name: "is_unwanted_subscription",
  text: "select from unwanted_subscription where provider = $1 and provider_subscription_id = $2",
};

/** Whether it is to be canceled, or has been. */
export async function isUnwanted(
  database: Queryable,
  { provider, providerSubscriptionId }: UnwantedSubscription,
): Promise<boolean> {
  return (await database.run(IS_UNWANTED, [provider, providerSubscriptionId])).length > 0;
}

const FIND_DOUBLES = {
  name: "find_doubled_subscriptions",
  text: `
insert into unwanted_subscription (provider, provider_subscription_id, because)
select provider, provider_subscription_id, 'paid_twice'
from (
  select s.provider, s.provider_subscription_id,
    row_number() over (partition by s.user_id order by s.created_at, s.id) as nth
  from subscription s
  where s.status = any ($1::text[]) and not s.cancel_at_period_end
    and not ${IS_ONE_TIME}
    and s.user_id in (select user_id from replaced_checkout where replaced_at > clock_timestamp() - interval '2 days')
) running
where nth > 1 and provider_subscription_id is not null
on conflict do nothing`,
};

/** Finds people who paid a replaced checkout as well as its successor: the later subscription is unwanted. */
export async function findPaidTwice(database: Queryable): Promise<void> {
  await database.run(FIND_DOUBLES, [RUNNING_STATUSES]);
}

const REMEMBER = {
  name: "remember_replaced_checkout",
  text: `
insert into replaced_checkout (provider, session_id, user_id) values ($1, $2, $3)
on conflict do nothing`,
};

/** For a replaced checkout that its provider cannot close. */
export async function rememberReplaced(
  database: Queryable,
  { provider, id, userId }: { provider: Slot; id: string; userId: string },
): Promise<void> {
  await database.run(REMEMBER, [provider, id, userId]);
}

// The exponent is limited too: PostgreSQL fails where the power would be beyond its range.
const CLAIM = {
  name: "claim_unwanted_subscription",
  text: `
update unwanted_subscription set
  attempts = attempts + 1, unclaimed_since = null,
  next_attempt_at = clock_timestamp() + least(30 * 4 ^ least(attempts, 10), 21600) * interval '1 second'
where (provider, provider_subscription_id) = (
  select provider, provider_subscription_id from unwanted_subscription
  where canceled_at is null and provider = any ($1::text[])
    -- A longer wait than any was begun while the database's clock was ahead, as before a failover.
    and (next_attempt_at <= clock_timestamp() or next_attempt_at > clock_timestamp() + interval '7 hours')
  order by next_attempt_at limit 1 for update skip locked
)
returning provider, provider_subscription_id as "providerSubscriptionId", because, attempts,
  next_attempt_at::text as "dueAgainAt"`,
};

/** Claims one of these slots that is due; it becomes due again unless it is finished. `null`: there is none. */
export async function claimUnwanted(
  database: Queryable,
  slots: readonly Slot[],
): Promise<ClaimedUnwanted | null> {
  const [row] = await database.run<ClaimedUnwanted>(CLAIM, [slots]);
  return row ?? null;
}

// At first its ten minutes begin anew: a server with the key may start after this one. Then it is postponed, so that
// one server reports it, and not every half minute. The attempts are left to a server with the key.
const MARK_UNCLAIMED = {
  name: "mark_unclaimed_unwanted",
  text: `
update unwanted_subscription u set unclaimed_since = coalesce(u.unclaimed_since, clock_timestamp()),
  next_attempt_at = clock_timestamp() + case when u.unclaimed_since is null then interval '0' else interval '10 minutes' end
from (
  select provider, provider_subscription_id, unclaimed_since is not null as is_known from unwanted_subscription
  where canceled_at is null and next_attempt_at <= clock_timestamp() - interval '10 minutes'
    and provider <> all ($1::text[])
  for update
) before
where (u.provider, u.provider_subscription_id) = (before.provider, before.provider_subscription_id)
returning u.provider, u.provider_subscription_id as "providerSubscriptionId", before.is_known as "isKnown"`,
};

/**
 * Marks those of other slots than these that were due for ten minutes. Returns those that were due for another ten
 * minutes in which a server of other slots ran: no server seems to have their key.
 */
export async function markUnclaimed(
  database: Queryable,
  slots: readonly Slot[],
): Promise<UnwantedSubscription[]> {
  const rows = await database.run<UnwantedSubscription & { isKnown: boolean }>(MARK_UNCLAIMED, [slots]);
  return rows.filter(({ isKnown }) => isKnown);
}

const REPORT = {
  name: "report_unwanted_subscription",
  text: `
with reported as (
  update unwanted_subscription set reported_at = clock_timestamp()
  where provider = $1 and provider_subscription_id = $2 and canceled_at is null and reported_at is null
    and next_attempt_at = coalesce($3::timestamptz, next_attempt_at)
  returning provider, provider_subscription_id, because
)
insert into notification (user_id, kind, details)
select u.id, 'payment_not_undone', jsonb_build_object(
  'because', reported.because, 'provider', reported.provider, 'subscription', reported.provider_subscription_id
)
from reported, "user" u where ${IS_ADMINISTRATOR}`,
};

/** Notifies all administrators, once, that it could not be canceled so far: where it was claimed, if it still is. */
export async function reportUnwanted(
  database: Queryable,
  { provider, providerSubscriptionId, dueAgainAt }: UnwantedSubscription & { dueAgainAt?: string },
): Promise<void> {
  await database.run(REPORT, [provider, providerSubscriptionId, dueAgainAt ?? null]);
}

/** A fence: a process that was stopped for long must not end what was resumed after another one had canceled it. */
const IS_CLAIMED = `provider = $1 and provider_subscription_id = $2 and canceled_at is null
    and next_attempt_at = $3::timestamptz`;

const FINISH = {
  name: "finish_unwanted_subscription",
  text: `
with finished as (
  update unwanted_subscription set canceled_at = clock_timestamp(), refunded = $4::boolean
  where ${IS_CLAIMED}
  returning provider, provider_subscription_id, because, refunded
)
insert into notification (user_id, kind, details)
select u.id, 'payment_undone', jsonb_build_object(
  'because', finished.because, 'provider', finished.provider, 'subscription', finished.provider_subscription_id,
  'refunded', case finished.refunded when true then 'yes' when false then 'no' else 'not_due' end
)
from finished, "user" u where ${IS_ADMINISTRATOR}`,
};

/**
 * Stores that it is canceled, and notifies all administrators, once.
 * @param isRefunded `null`: no refund was due
 */
export async function finishUnwanted(
  database: Queryable,
  { provider, providerSubscriptionId, dueAgainAt }: ClaimedUnwanted,
  { isRefunded }: { isRefunded: boolean | null },
): Promise<void> {
  await database.run(FINISH, [provider, providerSubscriptionId, dueAgainAt, isRefunded]);
}

const CLOSE = {
  name: "close_unwanted_subscription",
  text: `update unwanted_subscription set canceled_at = clock_timestamp() where ${IS_CLAIMED}`,
};

/** Stores that nothing had to be done: nobody is notified. */
export async function closeUnwanted(
  database: Queryable,
  { provider, providerSubscriptionId, dueAgainAt }: ClaimedUnwanted,
): Promise<void> {
  await database.run(CLOSE, [provider, providerSubscriptionId, dueAgainAt]);
}
