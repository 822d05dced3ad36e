import type { Caller } from "../../domain/callers/caller.ts";
import type { IdAtProvider } from "../../domain/events/person-ids.ts";
import type { Slot } from "../../domain/slot.ts";
import { isRunning, type SubscriptionStatus } from "../../domain/subscriptions/subscription-status.ts";
import { recordAudit } from "../audit/record-audit.ts";
import type { Database, Queryable } from "../database.ts";
import { redactOutbound } from "../outbound/redact-outbound.ts";
import { ID_IN_PAYMENTS, IS_ONE_TIME } from "../subscriptions/subscription-access.ts";
import { insertUnwanted, type UnwantedSubscription } from "../subscriptions/unwanted-subscriptions.ts";
import { INTERACTIVE_LIMITS, inTransaction, type Transaction } from "../transaction.ts";
import { IS_ADMINISTRATOR } from "../users/bans.ts";

/** A subscription that its provider still charges for. */
export type RunningSubscription = {
  id: string;
  provider: Slot;
  /** `null` until an event names it. */
  providerSubscriptionId: string | null;
  customerId: string | null;
  status: SubscriptionStatus;
};

export type Deletion =
  | { outcome: "deleted" }
  | { outcome: "unknown" | "last_administrator" }
  /** Nothing was deleted: these subscriptions have not been canceled yet. */
  | { outcome: "subscribed"; running: RunningSubscription[] };

type DeletionOptions = {
  canceled: ReadonlySet<string>;
  /** What the person has paid for just now: to be canceled and refunded. */
  unwanted?: readonly UnwantedSubscription[];
  by: Caller;
};

/**
 * Deletes a user with all dependent rows, unless this is the last administrator or a running subscription is
 * not among `canceled`. Subscriptions stay without a user, and the id is never reused. Redacting the delivery
 * log is queued and the audit entry is written in the same transaction.
 */
export async function deleteUserData(
  database: Database,
  userId: string,
  { canceled, unwanted = [], by }: DeletionOptions,
): Promise<Deletion> {
  return inTransaction(database, INTERACTIVE_LIMITS, async (transaction) => {
    const { user, others: otherAdministrators, subscriptions } = await lockPerson(transaction, userId);
    if (!user) return { outcome: "unknown" };
    if (user.role === "admin" && otherAdministrators.length === 0) return { outcome: "last_administrator" };
    const running = subscriptions.filter((own) => isCharged(own) && !canceled.has(own.id));
    if (running.length > 0) return { outcome: "subscribed", running };

    await redactOutbound(transaction, userId);
    const payments = await transaction.run<IdAtProvider>(PAYMENT_NAMES, [userId]);
    await transaction.commitAfter([
      ...(unwanted.length > 0 ? [insertUnwanted(transaction, unwanted)] : []),
      transaction.run(REMEMBER, [userId, JSON.stringify(redactionOf(subscriptions, payments))]),
      transaction.run(FORGET_LINKS, [userId, user.email]),
      transaction.run(LEAVE_PAYMENTS, [userId]),
      transaction.run(LEAVE_SUBSCRIPTIONS, [userId]),
      // Sessions, accounts, keys and notifications go with the user.
      transaction.run(DELETE, [userId]),
      recordAudit(transaction, by, { action: "user.deleted", target: { type: "user", id: userId } }),
    ]);
    return { outcome: "deleted" };
  });
}

const IS_LAST_ADMINISTRATOR = {
  name: "is_last_administrator",
  text: `
select from "user" where id = $1 and role = 'admin'
  and not exists (select from "user" u where ${IS_ADMINISTRATOR} and u.id <> $1)`,
};

/** Whether `deleteUserData` would refuse it, unless somebody is promoted meanwhile. */
export async function isLastAdministrator(database: Queryable, userId: string): Promise<boolean> {
  return (await database.run(IS_LAST_ADMINISTRATOR, [userId])).length > 0;
}

/** What a provider charges the person for. */
export async function findRunning(database: Queryable, userId: string): Promise<RunningSubscription[]> {
  const subscriptions = await database.run<OwnSubscription>(FIND_SUBSCRIPTIONS, [userId]);
  return subscriptions.filter(isCharged);
}

type OwnSubscription = RunningSubscription & { isShared: boolean; isOneTime: boolean };

/** What was bought with a single payment is charged for no more, and no provider could cancel it. */
function isCharged({ status, isOneTime }: OwnSubscription): boolean {
  return isRunning(status) && !isOneTime;
}

// In the intake's lock order (subscriptions before users), to avoid deadlocks. The second read sees what was
// bought before the user was locked.
async function lockPerson(transaction: Transaction, userId: string) {
  const [, administrators, [user], subscriptions] = await Promise.all([
    transaction.run(LOCK_SUBSCRIPTIONS, [userId]),
    transaction.run<{ id: string }>(LOCK_ADMINISTRATORS),
    transaction.run<{ role: string; email: string }>(LOCK_USER, [userId]),
    transaction.run<OwnSubscription>(LOCK_SUBSCRIPTIONS, [userId]),
  ]);
  return { user, others: administrators.filter(({ id }) => id !== userId), subscriptions };
}

const FIND_SUBSCRIPTIONS = {
  name: "find_subscriptions_of_user",
  text: `
select s.id, s.provider, s.provider_subscription_id as "providerSubscriptionId", s.customer_id as "customerId",
  s.status, ${IS_ONE_TIME} as "isOneTime", exists (
    select from subscription other
    where other.provider = s.provider and other.customer_id = s.customer_id and other.user_id <> s.user_id
  ) as "isShared"
from subscription s
where s.user_id = $1
order by s.id`,
};

const LOCK_SUBSCRIPTIONS = {
  name: "lock_subscriptions_of_user",
  text: `${FIND_SUBSCRIPTIONS.text} for no key update of s`,
};

const LOCK_ADMINISTRATORS = {
  name: "lock_administrators",
  text: `select id from "user" u where ${IS_ADMINISTRATOR} order by id for no key update`,
};

const LOCK_USER = { name: "lock_user", text: `select role, email from "user" where id = $1 for update` };

// The time is taken once the user is locked: whatever failed before was decided while the user existed.
const REMEMBER = {
  name: "remember_deleted_user",
  text: "insert into deleted_user (id, deleted_at, to_redact) values ($1, clock_timestamp(), $2::jsonb)",
};

// Better Auth stores there whom a link is for; recent versions store no address.
const FORGET_LINKS = {
  name: "forget_links",
  text: "delete from verification where value = $1 or identifier = $2",
};

const IS_THEIRS = `(p.user_id = $1 or p.id in (
  select paid.id from subscription s
  join payment paid on paid.provider = s.provider
    and paid.provider_subscription_id = ${ID_IN_PAYMENTS}
  where s.user_id = $1
))`;

// Stripe's disputes, and the invoices of single payments, name the person and their payment, but no subscription. A plain
// number may mean anything.
const PAYMENT_NAMES = {
  name: "payment_names_of_user",
  text: `
select n.provider, n.name as id
from payment p
join payment_name n on n.provider = p.provider and n.provider_payment_id = p.provider_payment_id
where ${IS_THEIRS} and n.name !~ '^[0-9]+$' and (
  p.provider_subscription_id = p.provider_payment_id
  or exists (select from payment_reversal r where r.provider = n.provider and r.payment_name = n.name)
)`,
};

// The receipt at `receipt_url` shows the person's name.
const LEAVE_PAYMENTS = {
  name: "leave_payments",
  text: `
update payment p set user_id = null, receipt_url = null, updated_at = clock_timestamp()
where ${IS_THEIRS}`,
};

const LEAVE_SUBSCRIPTIONS = {
  name: "leave_subscriptions",
  text: "update subscription set user_id = null, customer_id = null, updated_at = now() where user_id = $1",
};

const DELETE = { name: "delete_user", text: `delete from "user" where id = $1` };

/** The ids that find a person's deliveries. A customer id that others pay with as well identifies nobody. */
function redactionOf(subscriptions: readonly OwnSubscription[], payments: readonly IdAtProvider[]) {
  const subscriptionIds = [...payments];
  const customers: IdAtProvider[] = [];
  for (const { provider, providerSubscriptionId, customerId, isShared } of subscriptions) {
    if (providerSubscriptionId !== null) subscriptionIds.push({ provider, id: providerSubscriptionId });
    if (customerId !== null && !isShared) customers.push({ provider, id: customerId });
  }
  return { subscriptions: subscriptionIds, customers, after: "0", again: false };
}
