import type { Slot } from "../domain/slot.ts";
import type { SubscriptionStatus } from "../domain/subscription-status.ts";
import type { Queryable } from "./database.ts";

export type ListedSubscription = {
  id: string;
  userId: string | null;
  provider: Slot;
  providerSubscriptionId: string | null;
  planId: string;
  seats: number;
  status: SubscriptionStatus;
  currentPeriodEnd: Date | null;
  cancelAtPeriodEnd: boolean;
  outOfOrder: boolean;
  createdAt: Date;
  updatedAt: Date;
};

const OF_SLOT = {
  name: "subscriptions_of_slot",
  text: `
select id, user_id as "userId", provider, provider_subscription_id as "providerSubscriptionId", plan_id as "planId",
  seats, status, current_period_end as "currentPeriodEnd", cancel_at_period_end as "cancelAtPeriodEnd",
  out_of_order as "outOfOrder", created_at as "createdAt", updated_at as "updatedAt"
from subscription
where provider = $1 and (user_id = any ($2::text[]) or provider_subscription_id = any ($3::text[]))
order by created_at, id`,
};

/** A slot's subscriptions that belong to one of the users or have one of the provider's ids, the oldest first. */
export async function subscriptionsOfSlot(
  database: Queryable,
  provider: Slot,
  named: { userIds: readonly string[]; providerSubscriptionIds: readonly string[] },
): Promise<ListedSubscription[]> {
  return database.run<ListedSubscription>(OF_SLOT, [provider, named.userIds, named.providerSubscriptionIds]);
}
