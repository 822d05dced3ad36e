import type { Slot } from "../../domain/slot.ts";
import type { Subscription } from "../../domain/subscriptions/subscription.ts";
import type { Queryable, Statement } from "../database.ts";
import { SUBSCRIPTION_COLUMNS, type SubscriptionRow, toSubscription } from "./subscriptions.ts";

/** The ids by which an event may refer to a subscription. */
export type SubscriptionLink = {
  provider: Slot;
  providerSubscriptionId: string | null;
  userId: string | null;
  customerId: string | null;
};

// Forces the planner to use the index of each alternative: `provider || ''` rules out indexes that begin with
// the provider, and leaving out `order by` rules out scans of a key's index. A plan cached while the table
// was small would otherwise read every row of a slot.
const LINKED = `
from subscription s
where s.provider || '' = any ($1::text[]) and (
  (s.provider = any ($1::text[]) and s.provider_subscription_id = any ($2::text[]))
  or s.user_id = any ($3::text[])
  or s.customer_id = any ($4::text[])
)`;

const LOCK = {
  name: "lock_subscriptions",
  text: `select ${SUBSCRIPTION_COLUMNS} ${LINKED} order by s.id::text collate "C" for no key update of s`,
};
// Statements that never wait need no lock order.
const LOCK_FREE = {
  name: "lock_free_subscriptions",
  text: `select ${SUBSCRIPTION_COLUMNS} ${LINKED} for no key update of s skip locked`,
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
  const rows = await transaction.run<SubscriptionRow>(statement, idsOf(links));
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

/**
 * The last committed state of those that this transaction has not locked, and perhaps of some that it has.
 */
export async function findNotLocked(
  transaction: Queryable,
  links: readonly SubscriptionLink[],
): Promise<LinkedSubscription[]> {
  return transaction.run<LinkedSubscription>(NOT_LOCKED, idsOf(links));
}

/** The parameters of `LINKED`. With links to several slots it may find an id of one of them in another. */
function idsOf(links: readonly SubscriptionLink[]): unknown[][] {
  const providers = new Set<Slot>();
  const subscriptionIds: string[] = [];
  const userIds: string[] = [];
  const customerIds: string[] = [];
  for (const { provider, providerSubscriptionId, userId, customerId } of links) {
    providers.add(provider);
    if (providerSubscriptionId !== null) subscriptionIds.push(providerSubscriptionId);
    if (userId !== null) userIds.push(userId);
    else if (customerId !== null) customerIds.push(customerId);
  }
  return [[...providers], subscriptionIds, userIds, customerIds];
}

const LOCK_SUBSCRIBERS = {
  name: "lock_subscribers",
  text: `
select pg_advisory_xact_lock(key) from (
  select distinct hashtextextended(name, 7016552814) as key from unnest($1::text[]) as names (name) order by 1
) keys`,
};

/**
 * Keeps other processes from inserting subscriptions of the same users: one with a provider id and one
 * without would not conflict in any index. A separate statement, so that the following read sees what was
 * committed before.
 */
async function lockSubscribers(transaction: Queryable, links: readonly SubscriptionLink[]): Promise<void> {
  await transaction.run(LOCK_SUBSCRIBERS, [links.map(subscriberOf)]);
}

/**
 * Locks all subscriptions that the link may refer to, waiting for other holders, and keeps others from
 * inserting one. A holder may have inserted one that a running statement does not see: hence at least two
 * rounds.
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
