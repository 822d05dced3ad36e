import { z } from "zod";
import { refuse } from "../../domain/refusals/refusal.ts";
import { withAudit } from "../../store/audit/with-audit.ts";
import type { Database } from "../../store/database.ts";
import { replacePluginLink } from "../../store/keys/plugin-links.ts";
import { lockUserOfSession } from "../../store/sign-in/sessions.ts";
import { defineOperation } from "../operation.ts";
import { CALENDAR_PLUGIN, calendarAddress } from "./calendar-address-view.ts";

type Deps = {
  database: Database;
  appUrl: string;
  newLinkSecret: () => { secret: string; hash: Buffer };
};

export const createCalendarLink = defineOperation({
  name: "calendar.createLink",
  summary: "Creates the caller's calendar address and shows it once; the previous one stops working",
  access: "session",
  limit: "settings",
  input: z.strictObject({}),
  reasons: [],
  output: z.object({
    url: z.string().describe("Secret: anyone who has it can read the calendar. It cannot be shown again."),
    createdAt: z.date(),
  }),
  run: async (deps: Deps, caller) => {
    const { userId } = caller;
    const { secret, hash } = deps.newLinkSecret();
    const createdAt = await withAudit(
      deps.database,
      caller,
      async (transaction) => {
        if (!(await lockUserOfSession(transaction, caller))) refuse({ reason: "unauthorized" });
        return replacePluginLink(transaction, { userId, plugin: CALENDAR_PLUGIN, hash });
      },
      () => ({ action: "calendar_link.created", target: { type: "user", id: userId } }),
    );
    return { url: calendarAddress(deps.appUrl, secret), createdAt };
  },
});
