import { ACCESS_COLUMNS } from "../subscriptions/subscription-access.ts";
import { usageOf } from "./entitlement-facts.ts";

/**
 * The facts behind a user's entitlements, as JSON for `StoredChange`. The user is compared with a list, which
 * forces the index.
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
