import { z } from "zod";
import { notFound } from "../../domain/refusals/refusal.ts";
import { StorableText } from "../../domain/storable-text.ts";
import type { Queryable } from "../../store/database.ts";
import { deleteSession } from "../../store/sign-in/sessions.ts";
import { defineOperation } from "../operation.ts";

export const revokeSession = defineOperation({
  name: "sessions.revoke",
  summary: "Ends one of the caller's sessions",
  access: "session",
  limit: "settings",
  input: z.strictObject({
    id: StorableText.min(1).max(255),
  }),
  reasons: ["not_found"],
  output: z.object({ success: z.literal(true) }),
  run: async (deps: { database: Queryable }, caller, { id }) => {
    if (!(await deleteSession(deps.database, caller.userId, id))) {
      notFound("session");
    }
    return { success: true as const };
  },
});
