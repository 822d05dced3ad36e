import { z } from "zod";
import { notFound } from "../../domain/refusals/refusal.ts";
import { PersonName } from "../../domain/users/person-name.ts";
import type { Queryable } from "../../store/database.ts";
import { updateProfile } from "../../store/users/users.ts";
import { defineOperation } from "../operation.ts";
import { UserView } from "./user-view.ts";

export const renameUser = defineOperation({
  name: "users.rename",
  summary: "Changes the caller's name",
  access: "person",
  limit: "settings",
  input: z.strictObject({ name: PersonName }),
  reasons: ["not_found"],
  output: UserView,
  run: async (deps: { database: Queryable }, caller, { name }) =>
    (await updateProfile(deps.database, caller.userId, { name })) ?? notFound("user"),
});
