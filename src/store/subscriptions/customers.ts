import type { Slot } from "../../domain/slot.ts";
import type { SubscriptionStatus } from "../../domain/subscriptions/subscription-status.ts";
import type { Queryable } from "../database.ts";
import { IS_ONE_TIME } from "./subscription-access.ts";
import { LIVE_STATUSES } from "./subscription-list.ts";

export type StoredCustomer = {
  subscriptionId: string;
  provider: Slot;
  customerId: string | null;
  providerSubscriptionId: string | null;
};

/**
 * Paid subscriptions come first: they have most to manage in the portal. What was bought with a single payment has no more
 * to manage than an ended subscription.
 */
const STATUS_ORDER: readonly SubscriptionStatus[] = [...LIVE_STATUSES, "canceled"];

const CUSTOMERS = {
  name: "customers_of_user",
  text: `
select id as "subscriptionId", provider, customer_id as "customerId", provider_subscription_id as "providerSubscriptionId"
from subscription s
where user_id = $1 and (customer_id is not null or provider_subscription_id is not null)
order by array_position($2::text[], case when ${IS_ONE_TIME} then 'canceled' else status end), created_at desc, id desc
limit 20`,
};

/** A person's customer ids at the providers, those with a paid subscription first. */
export async function customersOfUser(database: Queryable, userId: string): Promise<StoredCustomer[]> {
  return database.run<StoredCustomer>(CUSTOMERS, [userId, STATUS_ORDER]);
}

const HAD_SUBSCRIPTION = {
  name: "user_had_subscription",
  text: `
select exists (
  select from subscription s where s.user_id = $1 and s.status <> 'incomplete' and not ${IS_ONE_TIME}
) as "had"`,
};

/**
 * Whether the user has had a subscription, in any slot. One whose first payment is missing does not count, nor does what
 * was bought with a single payment.
 */
export async function hadSubscription(database: Queryable, userId: string): Promise<boolean> {
  const [row] = await database.run<{ had: boolean }>(HAD_SUBSCRIPTION, [userId]);
  return row?.had ?? false;
}
