import { z } from "zod";
import { LOCALES } from "../../domain/locale.ts";
import { notFound, refuse } from "../../domain/refusals/refusal.ts";
import { PersonName } from "../../domain/users/person-name.ts";
import { Preferences } from "../../domain/users/preferences.ts";
import type { Queryable } from "../../store/database.ts";
import { updateProfile as update } from "../../store/users/users.ts";
import { defineOperation } from "../operation.ts";
import { UserView } from "./user-view.ts";

export const updateProfile = defineOperation({
  name: "users.updateProfile",
  summary: "Changes the caller's name, language and preferences; omitted fields stay unchanged",
  access: "person",
  limit: "settings",
  input: z.strictObject({
    name: PersonName.optional().describe("The caller's name."),
    locale: z.enum(LOCALES).optional().describe("The language of pages and mail."),
    preferences: Preferences.partial()
      .optional()
      .describe("The preferences to change; omitted ones stay unchanged."),
  }),
  reasons: ["not_found"],
  output: UserView,
  run: async (deps: { database: Queryable }, caller, input) => {
    if (Object.keys(input).length === 0) {
      refuse({ reason: "invalid_input", params: { problem: "nothing_to_change" } });
    }
    const updated = await update(deps.database, caller.userId, input);
    return updated ?? notFound("user");
  },
});
