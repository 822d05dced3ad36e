import { subscriptionEventType } from "../domain/outbound-event.ts";
import type { SubscriptionChange } from "../domain/subscription-change.ts";
import { mayChangeEntitlements } from "../domain/user-changes.ts";
import type { Queryable } from "./database.ts";

/** Each column with its type and value; the times are the subscription's own. */
const COLUMNS: readonly [name: string, type: string, value: (change: SubscriptionChange) => unknown][] = [
  ["subscription_id", "uuid", ({ after }) => after.id],
  [
    "type",
    "text",
    ({ before, after, changes }) => (changes === null ? null : subscriptionEventType(before, after)),
  ],
  ["user_id", "text", ({ after }) => after.userId],
  ["provider", "text", ({ after }) => after.provider],
  ["provider_subscription_id", "text", ({ after }) => after.providerSubscriptionId],
  ["plan_id", "text", ({ after }) => after.planId],
  ["seats", "int", ({ after }) => after.seats],
  ["status", "text", ({ after }) => after.status],
  ["current_period_end", "timestamptz", ({ after }) => after.currentPeriodEnd?.toISOString()],
  ["cancel_at_period_end", "boolean", ({ after }) => after.cancelAtPeriodEnd],
  ["out_of_order", "boolean", ({ after }) => after.outOfOrder],
  ["before_user_id", "text", ({ before }) => before?.userId],
  ["before_plan_id", "text", ({ before }) => before?.planId],
  ["before_status", "text", ({ before }) => before?.status],
  ["before_current_period_end", "timestamptz", ({ before }) => before?.currentPeriodEnd?.toISOString()],
  ["before_cancel_at_period_end", "boolean", ({ before }) => before?.cancelAtPeriodEnd],
];

const INSERT = {
  name: "insert_outbound_changes",
  text: `
insert into outbound_change (occurred_at, created_at, ${COLUMNS.map(([name]) => name).join(", ")})
select s.updated_at, s.created_at, ${COLUMNS.map(([name]) => `input.${name}`).join(", ")}
from unnest(${COLUMNS.map(([, type], at) => `$${at + 1}::${type}[]`).join(", ")}) with ordinality
  as input (${COLUMNS.map(([name]) => name).join(", ")}, place)
cross join lateral (
  select created_at, updated_at from subscription where id = input.subscription_id offset 0
) s
order by input.place`,
};

/**
 * Writes the changes that events report, in the order of the list, for the relay. The subscriptions must have been written
 * in the same transaction. Sends nothing when there is nothing to report.
 */
export function insertOutboundChanges(
  transaction: Queryable,
  changes: readonly SubscriptionChange[],
): Promise<unknown>[] {
  const reported = changes.filter((change) => change.changes !== null || mayChangeEntitlements(change));
  if (reported.length === 0) return [];
  return [
    transaction.run(
      INSERT,
      COLUMNS.map(([, , value]) => reported.map(value)),
    ),
  ];
}

const REDACT = {
  name: "redact_outbound_changes",
  text: `
update outbound_change
set user_id = nullif(user_id, $1::text), before_user_id = nullif(before_user_id, $1::text)
where (user_id = $1::text or before_user_id = $1::text)
  and seq > (select relayed_until from outbound_relay where only_one)`,
};

/** Removes a deleted user from changes that are not relayed yet. The relay must be kept out, see `waitForRelay`. */
export async function redactChangesOfUser(transaction: Queryable, userId: string): Promise<void> {
  await transaction.run(REDACT, [userId]);
}
