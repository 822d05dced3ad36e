import { z } from "zod";
import { notFound } from "../../domain/refusals/refusal.ts";
import type { Queryable } from "../../store/database.ts";
import { markNotificationRead } from "../../store/notifications/notifications.ts";
import { defineOperation } from "../operation.ts";
import { NotificationId, NotificationView } from "./notification-view.ts";

export const markRead = defineOperation({
  name: "notifications.markRead",
  summary: "Marks a notification as read; keeps the time it was first read",
  access: "person",
  limit: "api",
  input: z.strictObject({ id: NotificationId }),
  reasons: ["not_found"],
  output: NotificationView,
  run: async (deps: { database: Queryable }, caller, { id }) =>
    (await markNotificationRead(deps.database, caller.userId, id)) ?? notFound("notification"),
});
