/**
 * SQL: common table expressions with the keys, as `marked`, that expire within `$1` days; at most `$2` of them, and each
 * once. Short-lived keys are left out: their owners know when they expire.
 * @param returned columns of the key `k`
 */
export function markExpiring(table: "api_key" | "service_key", returned: string): string {
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
