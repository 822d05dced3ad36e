import type { Queryable } from "../database.ts";
import { isAfter, type ListPosition, microsOf, positionParameters } from "../list-position.ts";
import type { ListedKey } from "./api-keys.ts";

/** A user's key; or a service key, which has no owner, with what it may do and its limit. */
export type OwnedKey = ListedKey &
  (
    | { userId: string; email: string; permissions: null; limit: null }
    | { userId: null; email: null; permissions: string[]; limit: string }
  );

const IS_AFTER = isAfter("k.created_at, k.id", ["$2", "$3"]);

const LIST = {
  name: "api_keys_of_everybody",
  text: `
select id, name, prefix, created_at as "createdAt", expires_at as "expiresAt", last_used_at as "lastUsedAt",
  user_id as "userId", email, permissions, "limit", micros as "atMicros"
from (
  (select k.id, k.name, k.prefix, k.created_at, k.expires_at, k.last_used_at, u.id as user_id, u.email,
    null::text[] as permissions, null as "limit", ${microsOf("k.created_at")} as micros
  from api_key k join "user" u on u.id = k.user_id
  where k.revoked_at is null and ($1::text is null or k.user_id = $1) and ${IS_AFTER}
  order by k.created_at desc, k.id desc limit $4::int)
  union all
  (select k.id, k.name,
    (select s.prefix from service_key_secret s where s.service_key_id = k.id order by s.created_at desc limit 1),
    k.created_at, k.expires_at, k.last_used_at, null, null, k.permissions, k.limit_requests || '/' || k.limit_seconds,
    ${microsOf("k.created_at")}
  from service_key k
  where k.revoked_at is null and $1::text is null and ${IS_AFTER}
  order by k.created_at desc, k.id desc limit $4::int)
) keys
order by created_at desc, id desc limit $4::int`,
};

/**
 * Service keys and keys of all users, or those of one user, that are not revoked: newest first, starting
 * after `before`.
 */
export async function listKeysWithOwners(
  database: Queryable,
  userId: string | null,
  { before, limit }: { before: ListPosition | null; limit: number },
): Promise<(OwnedKey & { atMicros: string })[]> {
  return database.run(LIST, [userId, ...positionParameters(before), limit]);
}
