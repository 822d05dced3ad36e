import type { Queryable } from "../database.ts";

export type AuditActor = {
  kind: "session" | "api-key" | "service-key" | "operator";
  userId: string | null;
  keyId: string | null;
  /** The client's network address; `null` on the command line. */
  address: string | null;
};

export type AuditRecord = {
  actor: AuditActor;
  action: string;
  targetType: string;
  targetId: string;
  details: Record<string, unknown>;
};

const INSERT = {
  name: "insert_audit_entry",
  text: `
insert into audit_entry (actor_kind, actor_id, key_id, address, action, target_type, target_id, details)
values ($1, $2, $3, $4, $5, $6, $7, $8::jsonb)`,
};

export async function insertAuditEntry(database: Queryable, record: AuditRecord): Promise<void> {
  const { actor, action, targetType, targetId, details } = record;
  const { kind, userId, keyId, address } = actor;
  await database.run(INSERT, [
    kind,
    userId,
    keyId,
    address,
    action,
    targetType,
    targetId,
    JSON.stringify(details),
  ]);
}

export type AuditEntry = {
  id: string;
  at: Date;
  actor: { kind: AuditActor["kind"] | "database"; userId: string | null; keyId: string | null };
  address: string | null;
  action: string;
  target: { type: string; id: string };
  details: Record<string, unknown>;
};

export type AuditFilter = {
  action: string | null;
  actor: string | null;
  target: string | null;
  from: Date | null;
  to: Date | null;
};

const LIST = {
  name: "list_audit_entries",
  text: `
select id::text, at, jsonb_build_object('kind', actor_kind, 'userId', actor_id, 'keyId', key_id) as actor, address,
  action, jsonb_build_object('type', target_type, 'id', target_id) as target, details
from audit_entry
where ($1::bigint is null or id < $1::bigint)
  and ($2::text is null or action = $2 or starts_with(action, $2 || '.'))
  and ($3::text is null or actor_id = $3 or key_id = $3)
  and ($4::text is null or target_id = $4)
  and ($5::timestamptz is null or at >= $5) and ($6::timestamptz is null or at < $6)
order by audit_entry.id desc limit $7::int`,
};

/** Entries with ids below `before`, the newest first. */
export async function listAuditEntries(
  database: Queryable,
  { action, actor, target, from, to }: AuditFilter,
  { before, limit }: { before: string | null; limit: number },
): Promise<AuditEntry[]> {
  return database.run(LIST, [before, action, actor, target, from, to, limit]);
}

const DELETE_OLD = {
  name: "delete_old_audit_entries",
  text: `
delete from audit_entry where id in (
  select id from audit_entry where at < now() - $1::int * interval '1 day' order by at limit $2::int
)
returning id`,
};

/** Deletes at most `limit` entries, the oldest first; returns how many. @param retentionDays at least 30 */
export async function deleteOldAuditEntries(
  database: Queryable,
  { retentionDays, limit }: { retentionDays: number; limit: number },
): Promise<number> {
  return (await database.run(DELETE_OLD, [retentionDays, limit])).length;
}
