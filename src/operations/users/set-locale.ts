import { z } from "zod";
import { LOCALES } from "../../domain/locale.ts";
import { notFound } from "../../domain/refusals/refusal.ts";
import type { Queryable } from "../../store/database.ts";
import { updateProfile } from "../../store/users/users.ts";
import { defineOperation } from "../operation.ts";
import { UserView } from "./user-view.ts";

export const setLocale = defineOperation({
  name: "users.setLocale",
  summary: "Changes the caller's language",
  access: "person",
  limit: "settings",
  input: z.strictObject({ locale: z.enum(LOCALES) }),
  reasons: ["not_found"],
  output: UserView,
  run: async (deps: { database: Queryable }, caller, { locale }) =>
    (await updateProfile(deps.database, caller.userId, { locale })) ?? notFound("user"),
});
