import { z } from "zod";
import type { Queryable } from "../../store/database.ts";
import { notificationsOfUser } from "../../store/notifications/notifications.ts";
import { defineOperation } from "../operation.ts";
import { cutPageById, IdCursor, PAGE, pageOf } from "../page.ts";
import { NotificationView } from "./notification-view.ts";

export const listNotifications = defineOperation({
  name: "notifications.list",
  summary: "Lists the caller's notifications, newest first",
  access: "person",
  limit: "api",
  input: z.strictObject({ ...PAGE, cursor: IdCursor }),
  reasons: [],
  output: pageOf(NotificationView),
  run: async (deps: { database: Queryable }, caller, { limit, cursor }) => {
    const notifications = await notificationsOfUser(deps.database, caller.userId, {
      before: cursor,
      limit: limit + 1,
    });
    return cutPageById(notifications, limit);
  },
});
