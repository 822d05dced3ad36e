import type { Queryable } from "../database.ts";
import { isNotifiedOf } from "../notifications/notified-administrators.ts";
import { markExpiring } from "./expiring-keys.ts";

const NOTIFY_EXPIRING = {
  name: "notify_expiring_service_keys",
  text: `
with ${markExpiring("service_key", "k.id, k.name, k.created_by, k.expires_at")},
notified as (
  insert into notification (user_id, kind, details)
  select u.id, 'service_key_expiring',
    jsonb_build_object('name', k.name, 'prefix', newest.prefix, 'expiresAt', k.expires_at)
  from marked k
  cross join lateral (
    select prefix from service_key_secret s where s.service_key_id = k.id order by s.created_at desc limit 1
  ) newest
  join "user" u on ${isNotifiedOf("k.created_by")}
)
select count(*)::int as count from marked`,
};

/**
 * Notifies administrators of service keys that expire within so many days, once each; returns how many keys
 * there were, at most `limit`.
 */
export async function notifyExpiringServiceKeys(
  database: Queryable,
  { withinDays, limit }: { withinDays: number; limit: number },
): Promise<number> {
  const [row] = await database.run<{ count: number }>(NOTIFY_EXPIRING, [withinDays, limit]);
  return row?.count ?? 0;
}
