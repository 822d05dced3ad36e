import { batchLookups } from "../store/batch-lookups.ts";
import type { Queryable } from "../store/database.ts";
import { type EntitlementFacts, entitlementFacts } from "../store/entitlements/entitlement-facts.ts";

/**
 * Concurrent requests share a query. Nothing is cached: every process sees a change as soon as it is
 * committed.
 */
export function findEntitlementFacts(database: Queryable): (userId: string) => Promise<EntitlementFacts> {
  const find = batchLookups((userIds) => entitlementFacts(database, userIds));
  return async (userId) => (await find(userId)) ?? { subscriptions: [], usage: [] };
}
