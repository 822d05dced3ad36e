import {
  NOTIFICATION_KINDS,
  type Notification,
  type NotificationKind,
} from "../../domain/notifications/notification.ts";
import type { Queryable } from "../database.ts";

export type StoredNotification = {
  id: string;
  kind: NotificationKind;
  details: Record<string, unknown>;
  createdAt: Date;
  readAt: Date | null;
};

/**
 * SQL: a later release may have kinds that this one lacks, and share its database: nobody can be shown what they say.
 * @param kind a column
 */
export function knownKindCondition(kind: string): string {
  return `${kind} in (${NOTIFICATION_KINDS.map((known) => `'${known}'`)})`;
}

const COLUMNS = `id::text, kind, details, created_at as "createdAt", read_at as "readAt"`;

const INSERT = {
  name: "insert_notifications",
  text: `
insert into notification (user_id, kind, details)
select user_id, kind, details::jsonb
from unnest($1::text[], $2::text[], $3::text[]) with ordinality as given (user_id, kind, details, place)
order by place`,
};

/** Inserts notifications in the order of the list. */
export async function insertNotifications(
  transaction: Queryable,
  notifications: readonly Notification[],
): Promise<void> {
  await transaction.run(INSERT, [
    notifications.map((notification) => notification.userId),
    notifications.map((notification) => notification.kind),
    notifications.map((notification) => JSON.stringify(notification.details)),
  ]);
}

const OF_USER = {
  name: "notifications_of_user",
  text: `
select ${COLUMNS} from notification
where user_id = $1 and ($2::bigint is null or id < $2::bigint) and ${knownKindCondition("kind")}
order by notification.id desc limit $3::int`,
};

/**
 * A user's notifications with ids below `before`, the newest first; `before: null` starts with the newest.
 */
export async function notificationsOfUser(
  database: Queryable,
  userId: string,
  { before, limit }: { before: string | null; limit: number },
): Promise<StoredNotification[]> {
  return database.run(OF_USER, [userId, before, limit]);
}

const MARK_READ = {
  name: "mark_notification_read",
  text: `
update notification set read_at = coalesce(read_at, now())
where id = $2::bigint and user_id = $1
returning ${COLUMNS}`,
};

/** Keeps the time when it was first read. `null` when the user has no such notification. */
export async function markNotificationRead(
  database: Queryable,
  userId: string,
  id: string,
): Promise<StoredNotification | null> {
  const [row] = await database.run<StoredNotification>(MARK_READ, [userId, id]);
  return row ?? null;
}

const MARK_ALL_READ = {
  name: "mark_all_notifications_read",
  text: `
with unread as (
  update notification set read_at = now()
  where user_id = $1 and read_at is null and ${knownKindCondition("kind")} returning id
)
select count(*)::int as count from unread`,
};

/** Returns how many were unread. */
export async function markAllNotificationsRead(database: Queryable, userId: string): Promise<number> {
  const [row] = await database.run<{ count: number }>(MARK_ALL_READ, [userId]);
  return row?.count ?? 0;
}

const COUNT_UNREAD = {
  name: "count_unread_notifications",
  text: `select count(*)::int as count from notification
where user_id = $1 and read_at is null and ${knownKindCondition("kind")}`,
};

export async function countUnread(database: Queryable, userId: string): Promise<number> {
  const [row] = await database.run<{ count: number }>(COUNT_UNREAD, [userId]);
  return row?.count ?? 0;
}
