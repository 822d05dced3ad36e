import { z } from "zod";
import { withAudit } from "../../store/audit/with-audit.ts";
import type { Database } from "../../store/database.ts";
import { deletePluginLink } from "../../store/keys/plugin-links.ts";
import { defineOperation } from "../operation.ts";
import { CALENDAR_PLUGIN } from "./calendar-address-view.ts";

export const revokeCalendarLink = defineOperation({
  name: "calendar.revokeLink",
  summary: "Revokes the caller's calendar address, if there is one",
  access: "session",
  limit: "settings",
  input: z.strictObject({}),
  reasons: [],
  output: z.object({ success: z.literal(true) }),
  run: async (deps: { database: Database }, caller) => {
    const { userId } = caller;
    await withAudit(
      deps.database,
      caller,
      (transaction) => deletePluginLink(transaction, { userId, plugin: CALENDAR_PLUGIN }),
      (isDeleted) =>
        isDeleted ? { action: "calendar_link.revoked", target: { type: "user", id: userId } } : null,
    );
    return { success: true as const };
  },
});
