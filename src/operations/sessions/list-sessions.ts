import { z } from "zod";
import type { Queryable } from "../../store/database.ts";
import { listSessions as list } from "../../store/sign-in/sessions.ts";
import { defineOperation } from "../operation.ts";

const SessionView = z
  .object({
    id: z.string(),
    userAgent: z.string().nullable().describe("The browser's user agent."),
    address: z.string().nullable().describe("The network address at sign-in."),
    createdAt: z.date(),
    lastSeenAt: z.date().describe("Exact to a day."),
    isCurrent: z.boolean(),
  })
  .meta({ id: "Session" });

export const listSessions = defineOperation({
  name: "sessions.list",
  summary: "Lists the caller's active sessions, the last seen first; at most 100",
  access: "session",
  limit: "settings",
  input: z.strictObject({}),
  reasons: [],
  output: z.object({ items: z.array(SessionView) }),
  run: async (deps: { database: Queryable }, caller) => {
    const sessions = await list(deps.database, caller.userId);
    return { items: sessions.map((session) => ({ ...session, isCurrent: session.id === caller.sessionId })) };
  },
});
