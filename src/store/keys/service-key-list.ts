import type { Queryable } from "../database.ts";
import { isAfter, type ListPosition, microsOf, positionParameters } from "../list-position.ts";
import { SECRET_OVERLAP, type ServiceKeyRow } from "./service-keys.ts";

export type ListedServiceKey = ServiceKeyRow & {
  /**
   * Until when the secret before the newest one is valid; `null`: there is none, or it is not valid any more.
   */
  previousValidUntil: Date | null;
  atMicros: string;
};

const LIST = {
  name: "service_keys",
  text: `
select k.id, k.name, newest.prefix, k.permissions, k.limit_requests as "limit", k.limit_seconds as "windowSeconds",
  k.created_at as "createdAt", k.expires_at as "expiresAt", k.last_used_at as "lastUsedAt",
  case when newest."hasPrevious" and newest.created_at + ${SECRET_OVERLAP} > now()
    then least(k.expires_at, newest.created_at + ${SECRET_OVERLAP}) end as "previousValidUntil",
  ${microsOf("k.created_at")} as "atMicros"
from service_key k
cross join lateral (
  select s.prefix, s.created_at, exists (
    select from service_key_secret previous
    where previous.service_key_id = s.service_key_id and previous.created_at < s.created_at
  ) as "hasPrevious"
  from service_key_secret s where s.service_key_id = k.id
  order by s.created_at desc limit 1
) newest
where k.revoked_at is null and ${isAfter("k.created_at, k.id", ["$1", "$2"])}
order by k.created_at desc, k.id desc limit $3::int`,
};

/** Service keys that are not revoked: newest first, starting after `before`. */
export async function listServiceKeys(
  database: Queryable,
  { before, limit }: { before: ListPosition | null; limit: number },
): Promise<ListedServiceKey[]> {
  return database.run<ListedServiceKey>(LIST, [...positionParameters(before), limit]);
}
