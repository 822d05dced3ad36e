import type { Role } from "../../domain/callers/caller.ts";
import type { Queryable } from "../database.ts";
import { IS_BANNED } from "../users/bans.ts";

export type PluginLink = { createdAt: Date; lastUsedAt: Date | null };

const SHOW = {
  name: "show_plugin_link",
  text: `select created_at as "createdAt", last_used_at as "lastUsedAt" from plugin_link where user_id = $1 and plugin = $2`,
};

export async function findPluginLink(
  database: Queryable,
  { userId, plugin }: { userId: string; plugin: string },
): Promise<PluginLink | null> {
  const [link] = await database.run<PluginLink>(SHOW, [userId, plugin]);
  return link ?? null;
}

const REPLACE = {
  name: "replace_plugin_link",
  text: `
insert into plugin_link (user_id, plugin, hash) values ($1, $2, $3::bytea)
on conflict (user_id, plugin) do update
  set id = excluded.id, hash = excluded.hash, created_at = excluded.created_at, last_used_at = null
returning created_at as "createdAt"`,
};

/** The previous link of this person and plugin stops working. */
export async function replacePluginLink(
  database: Queryable,
  { userId, plugin, hash }: { userId: string; plugin: string; hash: Buffer },
): Promise<Date> {
  const [link] = await database.run<{ createdAt: Date }>(REPLACE, [userId, plugin, hash]);
  if (!link) throw new Error("an upsert returned no row");
  return link.createdAt;
}

const DELETE = {
  name: "delete_plugin_link",
  text: "delete from plugin_link where user_id = $1 and plugin = $2 returning id",
};

/** Returns whether there was one. */
export async function deletePluginLink(
  database: Queryable,
  { userId, plugin }: { userId: string; plugin: string },
): Promise<boolean> {
  return (await database.run(DELETE, [userId, plugin])).length > 0;
}

// The use is recorded once a minute, and skipped while another process records it.
const USE = {
  name: "use_plugin_link",
  text: `
with link as (
  select l.id, u.id as user_id, u.role, l.last_used_at
  from plugin_link l join "user" u on u.id = l.user_id
  where l.plugin = $1 and l.hash = $2::bytea and not coalesce(${IS_BANNED}, false)
), due as (
  select l.id from plugin_link l
  where l.id in (select id from link where last_used_at is null or last_used_at <= now() - interval '1 minute')
  for update skip locked
), used as (
  update plugin_link set last_used_at = now() where id in (select id from due)
)
select id, user_id as "userId", role from link`,
};

/** Whose link it is; `null` for an unknown, replaced or revoked one, and while its owner is suspended. */
export async function findLinkOwner(
  database: Queryable,
  { plugin, hash }: { plugin: string; hash: Buffer },
): Promise<{ id: string; userId: string; role: Role } | null> {
  const [link] = await database.run<{ id: string; userId: string; role: Role }>(USE, [plugin, hash]);
  return link ?? null;
}
