import { z } from "zod";
import type { Queryable } from "../../store/database.ts";
import { notificationsOfUser } from "../../store/notifications.ts";
import { defineOperation } from "../operation.ts";
import { cursorOf, PAGE, pageOf } from "../page.ts";
import { NotificationId, NotificationView } from "./notification-view.ts";

export const listNotifications = defineOperation({
  name: "notifications.list",
  summary: "Lists the caller's notifications, newest first",
  access: "person",
  limit: "api",
  input: z.strictObject({ ...PAGE, cursor: cursorOf(NotificationId) }),
  reasons: [],
  output: pageOf(NotificationView),
  run: async (deps: { database: Queryable }, caller, { limit, cursor }) => {
    const notifications = await notificationsOfUser(deps.database, caller.userId, {
      before: cursor,
      limit: limit + 1,
    });
    const items = notifications.slice(0, limit);
    return { items, nextCursor: notifications.length > limit ? (items.at(-1)?.id ?? null) : null };
  },
});
