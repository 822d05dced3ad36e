import type { Queryable } from "../database.ts";

/** SQL condition on user `u`: a ban without an end holds until it is lifted. */
export const IS_BANNED = "(u.banned and (u.ban_expires is null or u.ban_expires > now()))";

/** SQL condition on user `u`: an administrator who may sign in. One who is banned neither counts nor is notified. */
export const IS_ADMINISTRATOR = `u.role = 'admin' and not ${IS_BANNED}`;

const BANNED = { name: "is_banned", text: `select ${IS_BANNED} as "isBanned" from "user" u where u.id = $1` };

export async function isBanned(database: Queryable, id: string): Promise<boolean> {
  const [user] = await database.run<{ isBanned: boolean }>(BANNED, [id]);
  return user?.isBanned ?? false;
}
