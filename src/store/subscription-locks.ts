import type { Slot } from "../domain/slot.ts";
import type { Subscription } from "../domain/subscription.ts";
import type { Queryable, Statement } from "./database.ts";
import { SUBSCRIPTION_COLUMNS, type SubscriptionRow, toSubscription } from "./subscriptions.ts";

/** The ids by which an event may refer to a subscription. */
export type SubscriptionLink = {
  provider: Slot;
  providerSubscriptionId: string | null;
  userId: string | null;
  customerId: string | null;
};

// The links are $1 to $4. Each is looked up by itself through an index (`offset 0` keeps the planner from joining all with all).
// `provider || ''` keeps it from the indexes that begin with the provider: with statistics of a small table all cost the same, and a
// cached plan would read every row of a slot.
const LINKED = `
from subscription s
where s.id = any (array(
  select found.id from unnest($1::text[], $2::text[]) as link (provider, id)
    cross join lateral (
      select id from subscription
      where provider = link.provider and provider_subscription_id = link.id offset 0
    ) found
  union
  select found.id from unnest($1::text[], $3::text[]) as link (provider, user_id)
    cross join lateral (
      select id from subscription where user_id = link.user_id and provider || '' = link.provider offset 0
    ) found
  union
  select found.id from unnest($1::text[], $3::text[], $4::text[]) as link (provider, user_id, customer_id)
    cross join lateral (
      select id from subscription where customer_id = link.customer_id and provider || '' = link.provider offset 0
    ) found
  where link.user_id is null and link.customer_id is not null
))`;

const LOCK = {
  name: "lock_subscriptions",
  text: `select ${SUBSCRIPTION_COLUMNS} ${LINKED} order by s.id for no key update of s`,
};
const LOCK_FREE = {
  name: "lock_free_subscriptions",
  text: `select ${SUBSCRIPTION_COLUMNS} ${LINKED} order by s.id for no key update of s skip locked`,
};

/** Locks all subscriptions that any of the links may refer to, always in the same order. */
export function lockSubscriptions(transaction: Queryable, links: readonly SubscriptionLink[]) {
  return lock(transaction, LOCK, links);
}

/** Locks those that nobody else has locked (`skip locked`). */
export function lockFreeSubscriptions(transaction: Queryable, links: readonly SubscriptionLink[]) {
  return lock(transaction, LOCK_FREE, links);
}

async function lock(
  transaction: Queryable,
  statement: Statement,
  links: readonly SubscriptionLink[],
): Promise<Subscription[]> {
  const rows = await transaction.run<SubscriptionRow>(statement, columnsOf(links));
  return rows.map(toSubscription);
}

export type LinkedSubscription = SubscriptionLink & { id: string };

// `xmax` of a row that this transaction has locked is its own id, unless others share a weaker lock.
const NOT_LOCKED = {
  name: "subscriptions_not_locked",
  text: `
select s.id, s.provider, s.provider_subscription_id as "providerSubscriptionId", s.user_id as "userId",
  s.customer_id as "customerId"
${LINKED} and s.xmax is distinct from pg_current_xact_id_if_assigned()::xid`,
};

/** The last committed state of those that this transaction has not locked, and perhaps of some that it has. */
export async function findNotLocked(
  transaction: Queryable,
  links: readonly SubscriptionLink[],
): Promise<LinkedSubscription[]> {
  return transaction.run<LinkedSubscription>(NOT_LOCKED, columnsOf(links));
}

function columnsOf(links: readonly SubscriptionLink[]): unknown[][] {
  return [
    links.map((link) => link.provider),
    links.map((link) => link.providerSubscriptionId),
    links.map((link) => link.userId),
    links.map((link) => link.customerId),
  ];
}

const LOCK_SUBSCRIBERS = {
  name: "lock_subscribers",
  text: `
select pg_advisory_xact_lock(key) from (
  select distinct hashtextextended(name, 7016552814) as key from unnest($1::text[]) as names (name) order by 1
) keys`,
};

/**
 * Keeps other processes from inserting subscriptions of the same users: one with a provider id and one without would
 * not conflict in any index. A separate statement, so that the following read sees what was committed before.
 */
export async function lockSubscribers(
  transaction: Queryable,
  links: readonly SubscriptionLink[],
): Promise<void> {
  await transaction.run(LOCK_SUBSCRIBERS, [links.map(subscriberOf)]);
}

/**
 * Locks all subscriptions that the link may refer to, waiting for other holders, and keeps others from inserting one.
 * A holder may have inserted one that a running statement does not see: hence at least two rounds.
 */
export function waitForSubscriptions(
  transaction: Queryable,
  link: SubscriptionLink,
): Promise<Subscription[]> {
  return waitForAllSubscriptions(transaction, [link]);
}

/** The same for several links. */
export async function waitForAllSubscriptions(
  transaction: Queryable,
  links: readonly SubscriptionLink[],
): Promise<Subscription[]> {
  const [, first, second] = await Promise.all([
    lockSubscribers(transaction, links),
    lockSubscriptions(transaction, links),
    lockSubscriptions(transaction, links),
  ]);
  let subscriptions = second;
  for (let before = first; !haveSameIds(before, subscriptions); ) {
    before = subscriptions;
    subscriptions = await lockSubscriptions(transaction, links);
  }
  return subscriptions;
}

function haveSameIds(a: readonly Subscription[], b: readonly Subscription[]): boolean {
  return a.length === b.length && a.every(({ id }, index) => id === b[index]?.id);
}

const TRY_LOCK_SUBSCRIBERS = {
  name: "try_lock_subscribers",
  text: `
select name, pg_try_advisory_xact_lock(hashtextextended(name, 7016552814)) as "isLocked"
from (select distinct name from unnest($1::text[]) as names (name)) names`,
};

/** The same without waiting; returns those that are locked elsewhere, by `subscriberOf`. */
export async function tryLockSubscribers(
  transaction: Queryable,
  links: readonly SubscriptionLink[],
): Promise<Set<string>> {
  const rows = await transaction.run<{ name: string; isLocked: boolean }>(TRY_LOCK_SUBSCRIBERS, [
    links.map(subscriberOf),
  ]);
  return new Set(rows.filter(({ isLocked }) => !isLocked).map(({ name }) => name));
}

/** The subscriber (user, or else customer) in a slot whose subscriptions a link may add to. */
export function subscriberOf({
  provider,
  userId,
  customerId,
}: Pick<SubscriptionLink, "provider" | "userId" | "customerId">): string {
  return userId === null ? `${provider} customer ${customerId}` : `${provider} user ${userId}`;
}
