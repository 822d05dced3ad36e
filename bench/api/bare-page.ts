import { notificationsOfUser, type StoredNotification } from "../../src/store/notifications/notifications.ts";
import { openBareDatabase } from "./bare-database.ts";

const database = openBareDatabase();

/** What the operation `notifications.list` does once the gate has let a call through. */
export async function pageOfNotifications(
  userId: string,
  { limit, cursor }: { limit: number; cursor: string | null },
): Promise<{ items: StoredNotification[]; nextCursor: string | null }> {
  const rows = await notificationsOfUser(database, userId, { before: cursor, limit: limit + 1 });
  const items = rows.slice(0, limit);
  return { items, nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
}
