import { batchLookups } from "../../store/batch-lookups.ts";
import type { Queryable } from "../../store/database.ts";
import { findNamedUsers } from "../../store/users/external-users.ts";

/**
 * By our id or by another system's; resolves to our id, `null` without such a user. Concurrent calls share a
 * query.
 */
export function findNamedUser(
  database: Queryable,
): (user: { user: string } | { externalId: string }) => Promise<string | null> {
  const find = batchLookups(async (keys) => {
    const namesWith = (start: string) =>
      keys.filter((key) => key.startsWith(start)).map((key) => key.slice(1));
    const users = await findNamedUsers(database, { users: namesWith("u"), externalIds: namesWith("e") });
    return new Map(
      users.map(({ id, externalId }) => [externalId === null ? `u${id}` : `e${externalId}`, id]),
    );
  });
  return async (user) => (await find("user" in user ? `u${user.user}` : `e${user.externalId}`)) ?? null;
}
