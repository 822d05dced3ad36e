import type { Slot } from "../../domain/slot.ts";
import type { SubscriptionStatus } from "../../domain/subscriptions/subscription-status.ts";
import type { Queryable } from "../database.ts";
import { INTERVAL_CHANGE_COUNTS_FOR } from "./interval-changes.ts";
import { PAST_DUE_SINCE } from "./subscription-access.ts";

export type ChangeableSubscription = {
  id: string;
  userId: string | null;
  provider: Slot;
  providerSubscriptionId: string | null;
  priceId: string | null;
  planId: string;
  seats: number;
  status: SubscriptionStatus;
  cancelAtPeriodEnd: boolean;
  currentPeriodEnd: Date | null;
  /** Since when a renewal has been failing; `null`: not past due. */
  pastDueSince: Date | null;
  /** How often its interval was changed at once lately, see `INTERVAL_CHANGE_COUNTS_FOR`. */
  recentIntervalChanges: number;
};

const FIND = {
  name: "changeable_subscription",
  text: `
select id, user_id as "userId", provider, provider_subscription_id as "providerSubscriptionId", price_id as "priceId",
  plan_id as "planId", seats, status, cancel_at_period_end as "cancelAtPeriodEnd",
  current_period_end as "currentPeriodEnd", ${PAST_DUE_SINCE} as "pastDueSince", (
    select count(*)::int from interval_change c
    where c.subscription_id = s.id and c.changed_at > clock_timestamp() - ${INTERVAL_CHANGE_COUNTS_FOR}
  ) as "recentIntervalChanges"
from subscription s where id = $1`,
};

/** What a change of plan or seats starts from. */
export async function changeableSubscription(
  database: Queryable,
  id: string,
): Promise<ChangeableSubscription | null> {
  const [row] = await database.run<ChangeableSubscription>(FIND, [id]);
  return row ?? null;
}
