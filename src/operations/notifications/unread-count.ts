import { z } from "zod";
import type { Queryable } from "../../store/database.ts";
import { countUnread } from "../../store/notifications/notifications.ts";
import { defineOperation } from "../operation.ts";

export const unreadCount = defineOperation({
  name: "notifications.unreadCount",
  summary: "Counts the caller's unread notifications",
  access: "person",
  limit: "api",
  input: z.strictObject({}),
  reasons: [],
  output: z.object({ count: z.int() }),
  run: async (deps: { database: Queryable }, caller) => ({
    count: await countUnread(deps.database, caller.userId),
  }),
});
