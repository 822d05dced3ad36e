import type { Queryable } from "../database.ts";

/** SQL condition on user `u`: a ban without an end holds until it is lifted. */
export const IS_BANNED = "(u.banned and (u.ban_expires is null or u.ban_expires > now()))";

const BANNED = { name: "is_banned", text: `select ${IS_BANNED} as "isBanned" from "user" u where u.id = $1` };

export async function isBanned(database: Queryable, id: string): Promise<boolean> {
  const [user] = await database.run<{ isBanned: boolean }>(BANNED, [id]);
  return user?.isBanned ?? false;
}
