import { randomUUID } from "node:crypto";
import type { Role } from "../../domain/callers/caller.ts";
import type { Queryable, Statement } from "../database.ts";
import { isAfter, type ListPosition, microsOf, positionParameters } from "../list-position.ts";
import { IS_BANNED } from "../users/bans.ts";

/** How many valid keys a user may have at once. */
const MAX_ACTIVE_KEYS = 100;

export type ListedKey = {
  id: string;
  name: string;
  prefix: string;
  createdAt: Date;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
};

export type NewKey = {
  userId: string;
  name: string;
  prefix: string;
  hash: Buffer;
  expiresAt: Date | null;
};

const COLUMNS = `id, name, prefix, created_at as "createdAt", expires_at as "expiresAt", last_used_at as "lastUsedAt"`;

// Counted without a lock: concurrent requests may exceed the limit by their number, which is harmless.
const INSERT = {
  name: "insert_api_key",
  text: `
with created as (
  insert into api_key (id, user_id, name, prefix, hash, expires_at)
  select $1::uuid, u.id, $3::text, $4::text, $5::bytea, $6::timestamptz
  from "user" u
  where u.id = $2
    and (select count(*) from api_key k where k.user_id = $2 and k.revoked_at is null
         and (k.expires_at is null or k.expires_at > now())) < ${MAX_ACTIVE_KEYS}
  returning *
),
notified as (
  insert into notification (user_id, kind, details)
  select user_id, 'api_key_created', jsonb_build_object('name', name, 'prefix', prefix) from created
)
select ${COLUMNS} from created`,
};

/** Inserts a key and notifies its owner. `null` when the user has too many valid keys, or is gone. */
export async function insertApiKey(database: Queryable, key: NewKey): Promise<ListedKey | null> {
  const { userId, name, prefix, hash, expiresAt } = key;
  const [row] = await database.run<ListedKey>(INSERT, [randomUUID(), userId, name, prefix, hash, expiresAt]);
  return row ?? null;
}

const OF_USER = {
  name: "api_keys_of_user",
  text: `
select ${COLUMNS}, ${microsOf("created_at")} as "atMicros"
from api_key
where user_id = $1 and revoked_at is null
  and ${isAfter("created_at, id", ["$2", "$3"])}
order by created_at desc, id desc limit $4::int`,
};

/** A user's keys that are not revoked, newest first, those before `before`. */
export async function listApiKeys(
  database: Queryable,
  userId: string,
  { before, limit }: { before: ListPosition | null; limit: number },
): Promise<(ListedKey & { atMicros: string })[]> {
  return database.run(OF_USER, [userId, ...positionParameters(before), limit]);
}

const REVOKE = {
  name: "revoke_api_key",
  text: `
update api_key set revoked_at = now()
where id = $2::uuid and ($1::text is null or user_id = $1) and revoked_at is null
returning id`,
};

/** Returns whether a key was revoked. `userId: null` (the operator): any owner's. */
export async function revokeApiKey(database: Queryable, userId: string | null, id: string): Promise<boolean> {
  return (await database.run(REVOKE, [userId, id])).length > 0;
}

export type FoundKey = {
  prefix: string;
  hash: Buffer;
  id: string;
  userId: string;
  role: Role;
  /** In milliseconds since the epoch; expired ones are found too. */
  expiresAt: number | null;
  lastUsedAt: number | null;
  isBanned: boolean;
};

const FIND = {
  name: "find_api_keys",
  text: `
select k.prefix, k.hash, k.id, k.user_id as "userId", u.role,
  (extract(epoch from k.expires_at) * 1000)::float8 as "expiresAt",
  (extract(epoch from k.last_used_at) * 1000)::float8 as "lastUsedAt", ${IS_BANNED} as "isBanned"
from api_key k join "user" u on u.id = k.user_id
where k.prefix = any ($1::text[]) and k.revoked_at is null`,
  runsAlone: true,
} satisfies Statement;

/**
 * The keys with these prefixes that are not revoked, with their owners' current role and ban. Prefixes may
 * repeat.
 */
export async function findApiKeys(database: Queryable, prefixes: readonly string[]): Promise<FoundKey[]> {
  return database.run<FoundKey>(FIND, [prefixes]);
}
