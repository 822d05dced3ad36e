import { z } from "zod";
import { refuse } from "../../domain/refusals/refusal.ts";
import { type Database, throwUnavailableOnTimeout } from "../../store/database.ts";
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
  run: async (deps: { database: Database }, caller) => {
    const revoking = revoke(deps.database, caller.userId, caller.sessionId);
    const revoked = await revoking.catch(throwUnavailableOnTimeout);
    return revoked === null ? refuse({ reason: "unauthorized" }) : { revoked };
  },
});
