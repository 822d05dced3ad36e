import type { EventSubscription } from "../../domain/outbound/outbound-event.ts";
import type { PlanCatalog } from "../../domain/plans/plan.ts";
import type { Slot } from "../../domain/slot.ts";
import type { SubscriptionStatus } from "../../domain/subscriptions/subscription-status.ts";
import type { Queryable } from "../database.ts";
import { isAfter, type ListPosition, microsOf, positionParameters } from "../list-position.ts";
import { IS_ONE_TIME, latestReversal } from "./subscription-access.ts";

export type StoredSubscription = EventSubscription & { createdAt: Date; updatedAt: Date };

const COLUMNS = `id, user_id as "userId", provider, provider_subscription_id as "providerSubscriptionId",
  plan_id as "planId", seats, status, current_period_end as "currentPeriodEnd",
  cancel_at_period_end as "cancelAtPeriodEnd", out_of_order as "outOfOrder", created_at as "createdAt",
  updated_at as "updatedAt"`;

const OF_SLOT = {
  name: "subscriptions_of_slot",
  text: `
select ${COLUMNS}
from subscription
where provider = $1 and (user_id = any ($2::text[]) or provider_subscription_id = any ($3::text[]))
order by created_at, id`,
};

/** A slot's subscriptions of these users or with these provider ids, oldest first. */
export async function subscriptionsOfSlot(
  database: Queryable,
  provider: Slot,
  names: { userIds: readonly string[]; providerSubscriptionIds: readonly string[] },
): Promise<StoredSubscription[]> {
  return database.run<StoredSubscription>(OF_SLOT, [provider, names.userIds, names.providerSubscriptionIds]);
}

const OF_USER = {
  name: "subscriptions_of_user",
  text: `
select ${COLUMNS}, ${microsOf("created_at")} as "atMicros"
from subscription
where user_id = $1
  and ${isAfter("created_at, id", ["$2", "$3"])}
order by created_at desc, id desc
limit $4::int`,
};

/** A user's subscriptions, the newest first. */
export async function subscriptionsOfUser(
  database: Queryable,
  userId: string,
  { before, limit }: { before: ListPosition | null; limit: number },
): Promise<(StoredSubscription & { atMicros: string })[]> {
  return database.run(OF_USER, [userId, ...positionParameters(before), limit]);
}

/** Subscriptions that have not ended; the one that entitles to most comes first. */
export const LIVE_STATUSES = [
  "active",
  "trialing",
  "past_due",
  "unpaid",
  "paused",
  "incomplete",
] satisfies SubscriptionStatus[];

/**
 * SQL: what to sort a user's subscriptions `s` by, so that the one that entitles to most comes first. One whose payment was
 * taken back stays active, and gives nothing where its plan does not keep access after that: no more than an unpaid one
 * does, and a purchase, which nobody charges again, is the last.
 * @param parameters of `entitlementParameters`
 */
export function byEntitlement([statuses, keptRefunded, keptDisputed]: [string, string, string]): string {
  const rank = (status: string) => `array_position(${statuses}::text[], ${status})`;
  const isTakenBack = `case (${latestReversal()})
      when 'refunded' then s.plan_id <> all (${keptRefunded}::text[])
      when 'disputed' then s.plan_id <> all (${keptDisputed}::text[])
      when 'refunded_and_disputed' then s.plan_id <> all (${keptRefunded}::text[]) or s.plan_id <> all (${keptDisputed}::text[])
      else false end`;
  return `case
      when not ${isTakenBack} then ${rank("s.status")}
      when ${IS_ONE_TIME} then cardinality(${statuses}::text[]) + 1
      else greatest(${rank("s.status")}, ${rank("'unpaid'")}) end,
    s.created_at desc, s.id desc`;
}

export function entitlementParameters({ plans }: Pick<PlanCatalog, "plans">) {
  const keeping = (after: "afterRefund" | "afterDispute") =>
    plans.flatMap(({ id, [after]: rule }) => (rule === "keep_access" ? id : []));
  return [LIVE_STATUSES, keeping("afterRefund"), keeping("afterDispute")] as const;
}

const LIVE_OF_USER = {
  name: "live_subscription_of_user",
  text: `
select ${COLUMNS} from subscription s
where user_id = $1 and status = any ($2::text[])
order by ${byEntitlement(["$2", "$3", "$4"])}
limit 1`,
};

/**
 * Of a user's subscriptions that have not ended, the one that entitles to most; `null` when there is none.
 */
export async function liveSubscriptionOfUser(
  database: Queryable,
  userId: string,
  plans: Pick<PlanCatalog, "plans">,
): Promise<StoredSubscription | null> {
  const parameters = [userId, ...entitlementParameters(plans)];
  const [row] = await database.run<StoredSubscription>(LIVE_OF_USER, parameters);
  return row ?? null;
}

const FIND = { name: "find_subscription", text: `select ${COLUMNS} from subscription where id = $1` };

export async function findSubscription(database: Queryable, id: string): Promise<StoredSubscription | null> {
  const [row] = await database.run<StoredSubscription>(FIND, [id]);
  return row ?? null;
}

const OF_USERS = {
  name: "subscriptions_of_users",
  text: `
select found.*
from unnest($1::text[]) as asked (id)
cross join lateral (
  select ${COLUMNS} from subscription where user_id = asked.id order by created_at desc, id desc limit $2::int
) as found`,
};

/** Each user's newest subscriptions, at most `perUser`, in one query. Users without any are left out. */
export async function subscriptionsOfUsers(
  database: Queryable,
  userIds: readonly string[],
  { perUser }: { perUser: number },
): Promise<Map<string, StoredSubscription[]>> {
  const rows = await database.run<StoredSubscription & { userId: string }>(OF_USERS, [userIds, perUser]);
  return Map.groupBy(rows, (row) => row.userId);
}

// A partial index holds only the flagged ones: few enough to sort.
const OUT_OF_ORDER = {
  name: "subscriptions_out_of_order",
  text: `
select found.*, u.name as "userName", u.email as "userEmail"
from (
  select ${COLUMNS}, ${microsOf("updated_at")} as "atMicros"
  from subscription
  where out_of_order and ${isAfter("updated_at, id", ["$1", "$2"])}
  order by updated_at desc, id desc limit $3::int
) found left join "user" u on u.id = found."userId"
order by found."updatedAt" desc, found.id desc`,
};

type OutOfOrder = StoredSubscription & {
  atMicros: string;
  /** `null` once the account has been deleted. */
  userName: string | null;
  userEmail: string | null;
};

/** Subscriptions that an older event changed after a newer one, the last changed first. */
export async function subscriptionsOutOfOrder(
  database: Queryable,
  { before, limit }: { before: ListPosition | null; limit: number },
): Promise<OutOfOrder[]> {
  return database.run(OUT_OF_ORDER, [...positionParameters(before), limit]);
}
