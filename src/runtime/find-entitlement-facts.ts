import { batchLookups } from "../auth/batch-lookups.ts";
import type { Queryable } from "../store/database.ts";
import { type EntitlementFacts, entitlementFacts } from "../store/entitlement-facts.ts";

/** One of them may be stuck on a connection that has just died. */
const MAX_IN_FLIGHT = 2;

/**
 * Concurrent requests share a query. Nothing is cached: every process sees a change as soon as it is
 * committed.
 */
export function findEntitlementFacts(database: Queryable): (userId: string) => Promise<EntitlementFacts> {
  const find = batchLookups(MAX_IN_FLIGHT, (userIds) => entitlementFacts(database, userIds));
  return async (userId) => (await find(userId)) ?? { subscriptions: [], usage: [] };
}
