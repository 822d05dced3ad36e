import type { Permission } from "../../domain/callers/permission.ts";
import type { Queryable, Statement } from "../database.ts";

export type ServiceKeyRow = {
  id: string;
  name: string;
  /** Of the newest secret. */
  prefix: string;
  permissions: Permission[];
  limit: number;
  windowSeconds: number;
  createdAt: Date;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
};

/** `previousValidUntil`: until when the secret before the newest one is valid. */
type RotatedServiceKey = ServiceKeyRow & { previousValidUntil: Date };

/** How long the previous secret stays valid after a rotation. */
export const SECRET_OVERLAP = "interval '24 hours'";

const COLUMNS = `k.id, k.name, k.permissions, k.limit_requests as "limit", k.limit_seconds as "windowSeconds",
  k.created_at as "createdAt", k.expires_at as "expiresAt", k.last_used_at as "lastUsedAt"`;

const INSERT = {
  name: "insert_service_key",
  text: `
with created as (
  insert into service_key (id, name, permissions, limit_requests, limit_seconds, created_by, expires_at)
  values ($1::uuid, $2, $3::text[], $4::int, $5::int, $6, $7::timestamptz)
  returning id
)
insert into service_key_secret (hash, service_key_id, prefix) select $8::bytea, id, $9 from created`,
};

export type NewServiceKey = {
  id: string;
  name: string;
  permissions: readonly Permission[];
  limit: number;
  windowSeconds: number;
  /** `null`: the operator. */
  createdBy: string | null;
  expiresAt: Date | null;
  secret: { hash: Buffer; prefix: string };
};

export async function insertServiceKey(database: Queryable, key: NewServiceKey): Promise<void> {
  const { id, name, permissions, limit, windowSeconds, createdBy, expiresAt, secret } = key;
  const values = [
    id,
    name,
    permissions,
    limit,
    windowSeconds,
    createdBy,
    expiresAt,
    secret.hash,
    secret.prefix,
  ];
  await database.run(INSERT, values);
}

// Two secrets are valid at a time: older ones are deleted.
const ROTATE = {
  name: "rotate_service_key",
  text: `
with rotated as (
  select * from service_key
  where id = $1::uuid and revoked_at is null and (expires_at is null or expires_at > now())
  for update
), deleted as (
  delete from service_key_secret s using rotated
  where s.service_key_id = rotated.id and exists (
    select from service_key_secret newer
    where newer.service_key_id = s.service_key_id and newer.created_at > s.created_at
  )
), added as (
  insert into service_key_secret (hash, service_key_id, prefix) select $2::bytea, id, $3 from rotated
  returning created_at
)
select ${COLUMNS}, $3 as prefix, least(k.expires_at, added.created_at + ${SECRET_OVERLAP}) as "previousValidUntil"
from rotated k, added`,
};

/**
 * Adds a secret; the previous one stays valid for a day. `null`: no such key, or it is expired or revoked.
 */
export async function rotateServiceKey(
  database: Queryable,
  id: string,
  secret: { hash: Buffer; prefix: string },
): Promise<RotatedServiceKey | null> {
  const [row] = await database.run<RotatedServiceKey>(ROTATE, [id, secret.hash, secret.prefix]);
  return row ?? null;
}

const REVOKE = {
  name: "revoke_service_key",
  text: "update service_key set revoked_at = now() where id = $1::uuid and revoked_at is null returning id",
};

/** Returns whether a key was revoked. */
export async function revokeServiceKey(database: Queryable, id: string): Promise<boolean> {
  return (await database.run(REVOKE, [id])).length > 0;
}

export type FoundServiceKey = {
  prefix: string;
  hash: Buffer;
  id: string;
  permissions: Permission[];
  limit: number;
  windowSeconds: number;
  /** In milliseconds since the epoch; those whose time is over are found too. `null`: no end. */
  validUntil: number | null;
  lastUsedAt: number | null;
};

const FIND = {
  name: "find_service_keys",
  text: `
select s.prefix, s.hash, k.id, k.permissions, k.limit_requests as "limit", k.limit_seconds as "windowSeconds",
  (extract(epoch from case newer.count
    when 0 then k.expires_at
    when 1 then least(k.expires_at, newer.at + ${SECRET_OVERLAP})
    else timestamptz 'epoch'
  end) * 1000)::float8 as "validUntil",
  (extract(epoch from k.last_used_at) * 1000)::float8 as "lastUsedAt"
from service_key_secret s
join service_key k on k.id = s.service_key_id
cross join lateral (
  select count(*) as count, min(other.created_at) as at from service_key_secret other
  where other.service_key_id = s.service_key_id and other.created_at > s.created_at
) newer
where s.prefix = any ($1::text[]) and k.revoked_at is null`,
  runsAlone: true,
} satisfies Statement;

/** The secrets with these prefixes, with their keys unless revoked. Prefixes may repeat. */
export async function findServiceKeys(
  database: Queryable,
  prefixes: readonly string[],
): Promise<FoundServiceKey[]> {
  return database.run<FoundServiceKey>(FIND, [prefixes]);
}
