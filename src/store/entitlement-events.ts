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
 * @param which a condition on the subscription `s`
 */
export function storedFacts(userId: string, which = "s.status <> 'canceled'"): string {
  return `'subscriptions', (
    select coalesce(json_agg(found), '[]') from (
      select ${ACCESS_COLUMNS} from subscription s
      where s.user_id = any (array[${userId}]) and ${which}
      order by s.created_at desc, s.id desc
    ) found
  ), 'usage', ${usageOf(userId)}`;
}

const NOT_ENDED_BEFORE = `(s.status <> 'canceled'
        or s.id in (select (one ->> 'id')::uuid from json_array_elements(given.replaced::json) one))`;

// Behind the write of the subscriptions, which it reads.
const INSERT = {
  name: "insert_entitlement_events",
  text: `
insert into outbound_event (type, subject, data)
select 'entitlements.changed', md5('user ' || given.user_id), json_build_object(
  'userId', given.user_id,
  'change', json_build_object(
    ${storedFacts("given.user_id", NOT_ENDED_BEFORE)},
    'replaced', given.replaced::json
  )
)
from unnest($1::text[], string_to_array($2::text, U&'\\001E')) with ordinality as given (user_id, replaced, place)
order by given.place`,
};

/**
 * Writes an event for each change that may have changed a user's entitlements; the relay drops those that have not. The
 * subscriptions must have been written in the same transaction. Sends nothing when there is none.
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
      users.map(({ replaced }) => JSON.stringify(replaced)).join(SEPARATOR),
    ]),
  ];
}
