import type { EventSubscription } from "../../src/domain/outbound/outbound-event.ts";
import { subscriptionChange } from "../../src/domain/outbound/subscription-change.ts";
import { insertOutboundChanges } from "../../src/store/outbound/outbound-changes.ts";
import { inTransaction } from "../../src/store/transaction.ts";
import type { TestDatabase } from "../support/database.ts";

/** Longer than any test waits. */
export const LONG_LIMITS = {
  synchronousCommit: "off",
  lockTimeoutMs: 60_000,
  statementTimeoutMs: 60_000,
  idleTimeoutMs: 60_000,
} as const;

type Facts = Partial<Pick<EventSubscription, "status" | "seats">>;

/** Removes what earlier tests have left, and gives each of the first `users` a subscription. */
export async function startWithSubscriptions(test: TestDatabase, users: number): Promise<void> {
  await test.rows(
    "truncate outbound_change_set, outbound_event, outbound_event_pack, outbound_delivery, event_endpoint cascade",
  );
  await test.rows("delete from subscription");
  await test.rows(
    `insert into subscription (id, user_id, provider, provider_subscription_id, plan_id, seats, status,
       cancel_at_period_end, out_of_order, current_period_end, created_at)
     select gen_random_uuid(), u.id, 'provider-a', 'sub_' || u.id, 'team', 1, 'active', false, false,
       now() + interval '20 days', now() - interval '90 days'
     from "user" u order by length(u.id), u.id limit $1::int`,
    [users],
  );
}

/**
 * Changes the plan of every subscription, or of this many, and these fields, in one transaction, as webhooks
 * do. Nothing is relayed yet.
 */
export async function changePlans(
  test: TestDatabase,
  {
    factsOf = () => ({}),
    offset = 0,
    limit = 1_000,
  }: { factsOf?: (userId: string) => Facts; offset?: number; limit?: number } = {},
): Promise<void> {
  const subscriptions = await test.rows<EventSubscription>(
    `select id, user_id as "userId", provider, provider_subscription_id as "providerSubscriptionId", plan_id as "planId",
       seats, status, current_period_end as "currentPeriodEnd", cancel_at_period_end as "cancelAtPeriodEnd",
       out_of_order as "outOfOrder"
     from subscription order by id limit $1 offset $2`,
    [limit, offset],
  );
  const changes = subscriptions.map((before) => {
    const planId = before.planId === "team" ? "pro" : "team";
    return subscriptionChange(before, { ...before, planId, ...factsOf(before.userId ?? "") });
  });
  await inTransaction(test.database, LONG_LIMITS, async (transaction) => {
    for (const { after } of changes)
      await transaction.run(
        {
          name: "change_plan",
          text: `update subscription set plan_id = $2, status = $3, updated_at = clock_timestamp(),
            past_due_since = case when $3 = 'past_due' then now() - interval '60 days' end where id = $1::uuid`,
        },
        [after.id, after.planId, after.status],
      );
    await transaction.commitAfter(insertOutboundChanges(transaction, changes));
  });
}
