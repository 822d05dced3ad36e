import { z } from "zod";
import type { Queryable } from "../../store/database.ts";
import { revokeOtherSessions as revoke } from "../../store/sign-in/revocations.ts";
import { defineOperation } from "../operation.ts";

export const revokeOtherSessions = defineOperation({
  name: "sessions.revokeOthers",
  summary: "Ends all of the caller's other sessions",
  access: "session",
  limit: "settings",
  input: z.strictObject({}),
  reasons: [],
  output: z.object({ revoked: z.int() }),
  run: async (deps: { database: Queryable }, caller) => {
    const current = caller.kind === "session" ? caller.sessionId : "";
    return { revoked: await revoke(deps.database, caller.userId, current) };
  },
});
