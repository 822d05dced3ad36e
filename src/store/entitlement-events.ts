import type { SubscriptionChange } from "../domain/subscription-change.ts";
import { userChanges } from "../domain/user-changes.ts";
import type { Queryable } from "./database.ts";
import { usageOf } from "./entitlement-facts.ts";
import { SEPARATOR } from "./separator.ts";
import { ACCESS_COLUMNS } from "./subscription-access.ts";

/**
 * What the entitlements of a user are made of, as JSON for `StoredChange`. The user is compared with a list, which forces
 * the index.
 * @param userId an SQL expression
 */
export function storedFacts(userId: string): string {
  return `'subscriptions', (
    select coalesce(json_agg(found), '[]') from (
      select ${ACCESS_COLUMNS} from subscription s
      where s.user_id = any (array[${userId}]) and s.status <> 'canceled'
      order by s.created_at desc, s.id desc
    ) found
  ), 'usage', ${usageOf(userId)}`;
}

// Only what has changed: the relay reads the rest after the commit.
const INSERT = {
  name: "insert_changes_of_entitlements",
  text: `
insert into outbound_event (type, subject, data)
select 'entitlements.changed', md5('user ' || input.user_id), input.data::json
from unnest($1::text[], string_to_array($2::text, U&'\\001E')) with ordinality as input (user_id, data, place)
order by input.place`,
};

/**
 * Writes an event for each change that may have changed a user's entitlements; the relay drops those that have not. Sends
 * nothing when there is none.
 */
export function insertEntitlementEvents(
  transaction: Queryable,
  changes: readonly SubscriptionChange[],
): Promise<unknown>[] {
  const users = userChanges(changes);
  if (users.length === 0) return [];
  return [
    transaction.run(INSERT, [
      users.map(({ userId }) => userId),
      users.map(({ userId, replaced }) => JSON.stringify({ userId, change: { replaced } })).join(SEPARATOR),
    ]),
  ];
}
