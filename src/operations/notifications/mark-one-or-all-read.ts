import { z } from "zod";
import { format } from "../../domain/refusals/invalid-input.ts";
import { notFound } from "../../domain/refusals/refusal.ts";
import type { Queryable } from "../../store/database.ts";
import { markAllNotificationsRead, markNotificationRead } from "../../store/notifications/notifications.ts";
import { defineOperation } from "../operation.ts";
import { NotificationView } from "./notification-view.ts";

export const markOneOrAllRead = defineOperation({
  name: "notifications.markOneOrAllRead",
  summary: "Marks one of the caller's notifications as read, or all of them",
  access: "person",
  limit: "api",
  input: z.strictObject({
    id: z.string().regex(/^(all|[1-9]\d{0,17})$/, format("number_id")),
  }),
  reasons: ["not_found"],
  output: z.union([NotificationView, z.object({ count: z.int().describe("How many were marked.") })]),
  run: async (deps: { database: Queryable }, caller, { id }) => {
    if (id === "all") return { count: await markAllNotificationsRead(deps.database, caller.userId) };
    const notification = await markNotificationRead(deps.database, caller.userId, id);
    return notification ?? notFound("notification");
  },
});
