import { z } from "zod";
import type { Queryable } from "../../store/database.ts";
import { findPluginLink } from "../../store/keys/plugin-links.ts";
import { defineOperation } from "../operation.ts";
import { CALENDAR_PLUGIN } from "./calendar-address-view.ts";

export const showCalendarLink = defineOperation({
  name: "calendar.showLink",
  summary: "Shows when the caller's calendar address was created and last used",
  access: "session",
  limit: "settings",
  input: z.strictObject({}),
  reasons: [],
  output: z.object({
    link: z
      .object({ createdAt: z.date(), lastUsedAt: z.date().nullable() })
      .nullable()
      .describe("`null`: there is no address."),
  }),
  run: async (deps: { database: Queryable }, { userId }) => ({
    link: await findPluginLink(deps.database, { userId, plugin: CALENDAR_PLUGIN }),
  }),
});
