import type { Queryable } from "../database.ts";
import { isNotifiedOf } from "../notifications/notified-administrators.ts";

const NOTIFY_OWNERS = {
  name: "notify_expiring_api_keys",
  text: `
with ${markExpiring("api_key", "k.user_id, k.name, k.prefix, k.expires_at")},
notified as (
  insert into notification (user_id, kind, details)
  select user_id, 'api_key_expiring',
    jsonb_build_object('name', name, 'prefix', prefix, 'expiresAt', expires_at)
  from marked
)
select count(*)::int as count from marked`,
};

const NOTIFY_ADMINISTRATORS = {
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
 * Notifies owners of API keys, and administrators about service keys, once per key that expires within so many days;
 * returns how many keys there were, at most `limit` of each kind.
 */
export async function notifyExpiringKeys(
  database: Queryable,
  { withinDays, limit }: { withinDays: number; limit: number },
): Promise<number> {
  let keys = 0;
  for (const statement of [NOTIFY_OWNERS, NOTIFY_ADMINISTRATORS]) {
    const [row] = await database.run<{ count: number }>(statement, [withinDays, limit]);
    keys += row?.count ?? 0;
  }
  return keys;
}

/**
 * SQL: common table expressions with the keys, as `marked`, that expire within `$1` days; at most `$2` of them, and each
 * once. Short-lived keys are left out: their owners know when they expire.
 * @param returned columns of the key `k`
 */
function markExpiring(table: "api_key" | "service_key", returned: string): string {
  return `due as (
  select id from ${table}
  where expires_at between now() and now() + $1::int * interval '1 day' and revoked_at is null
    and expiry_notified_at is null and created_at < expires_at - 2 * $1::int * interval '1 day'
  order by expires_at limit $2::int for update skip locked
),
marked as (
  update ${table} k set expiry_notified_at = now() from due where k.id = due.id
  returning ${returned}
)`;
}
