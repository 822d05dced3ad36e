import { z } from "zod";
import type { Queryable } from "../../store/database.ts";
import { markAllNotificationsRead } from "../../store/notifications/notifications.ts";
import { defineOperation } from "../operation.ts";

export const markAllRead = defineOperation({
  name: "notifications.markAllRead",
  summary: "Marks all of the caller's notifications as read",
  access: "person",
  limit: "api",
  input: z.strictObject({}),
  reasons: [],
  output: z.object({ count: z.int().describe("How many were marked.") }),
  run: async (deps: { database: Queryable }, caller) => ({
    count: await markAllNotificationsRead(deps.database, caller.userId),
  }),
});
