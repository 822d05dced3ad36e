import type { ListedKey } from "./api-keys.ts";
import type { Queryable } from "./database.ts";

export type OwnedKey = ListedKey & { userId: string; email: string };

const LIST = {
  name: "api_keys_of_everybody",
  text: `
select k.id, k.name, k.prefix, k.created_at as "createdAt", k.expires_at as "expiresAt",
  k.last_used_at as "lastUsedAt", u.id as "userId", u.email,
  (extract(epoch from k.created_at) * 1000000)::bigint::text as "createdAtMicros"
from api_key k join "user" u on u.id = k.user_id
where k.revoked_at is null and ($1::text is null or k.user_id = $1)
  and ($2::bigint is null
       or (k.created_at, k.id) < (timestamptz 'epoch' + $2::bigint * interval '1 microsecond', $3::uuid))
order by k.created_at desc, k.id desc limit $4::int`,
};

/** Keys of all users, or of one, that are not revoked: newest first, starting after `before`. */
export async function listKeysWithOwners(
  database: Queryable,
  userId: string | null,
  { before, limit }: { before: { createdAtMicros: string; id: string } | null; limit: number },
): Promise<(OwnedKey & { createdAtMicros: string })[]> {
  return database.run(LIST, [userId, before?.createdAtMicros ?? null, before?.id ?? null, limit]);
}
