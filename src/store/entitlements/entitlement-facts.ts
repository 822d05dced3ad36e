import type { QuotaUsage } from "../../domain/entitlements/shown-entitlements.ts";
import type { Queryable } from "../database.ts";
import { ACCESS_COLUMNS, type SubscriptionAccess } from "../subscriptions/subscription-access.ts";

/** The facts behind a user's entitlements. */
export type EntitlementFacts = {
  /** Subscriptions that have not ended and those that were requested, the newest first. */
  subscriptions: SubscriptionAccess[];
  /** Usage of periods that have not ended, or only just. */
  usage: QuotaUsage[];
};

/**
 * Of the user in `userId`, an SQL expression; `null` without any. The server's clock, which may be behind the
 * database's, tells which period is the current one. The sum keeps the planner from the index by age: with
 * statistics of a small table, a cached plan would read the counters of all users.
 */
export function usageOf(userId: string): string {
  return `(
  select json_agg(json_build_object(
    'feature', c.feature, 'periodEndMs', (extract(epoch from c.period_end) * 1000)::bigint, 'used', c.used
  )) from usage_counter c where c.user_id = ${userId} and c.period_end + interval '1 hour' > now()
)`;
}

const OF_USERS = {
  name: "entitlement_facts_of_users",
  text: `
select asked.id as "userId", found.*, ${usageOf("asked.id")} as usage
from unnest($1::text[], $2::text[]) as asked (id, ended)
left join lateral (
  select ${ACCESS_COLUMNS} from subscription s
  where s.user_id = asked.id and (s.status <> 'canceled' or s.id = any (string_to_array(asked.ended, ',')::uuid[]))
  order by s.created_at desc, s.id desc
) found on true`,
};

type Row = { userId: string; usage: QuotaUsage[] | null } & (SubscriptionAccess | { id: null });

/**
 * The facts of each user, in one query; those of an unknown user are empty.
 * @param endedOf subscriptions of a user to include even when they have ended
 */
export async function entitlementFacts(
  database: Queryable,
  userIds: readonly string[],
  endedOf: (userId: string) => readonly string[] = () => [],
): Promise<Map<string, EntitlementFacts>> {
  const endedIds = userIds.map((userId) => endedOf(userId).join(","));
  const rows = await database.run<Row>(OF_USERS, [userIds, endedIds]);
  const facts = new Map<string, EntitlementFacts>();
  for (const { userId, usage, ...subscription } of rows) {
    const userFacts = facts.get(userId) ?? { subscriptions: [], usage: usage ?? [] };
    if (subscription.id !== null) userFacts.subscriptions.push(subscription);
    facts.set(userId, userFacts);
  }
  return facts;
}
