import { z } from "zod";
import { notFound } from "../../domain/refusals/refusal.ts";
import type { Queryable } from "../../store/database.ts";
import { findUserByEmail } from "../../store/users/users.ts";
import { defineOperation } from "../operation.ts";
import { UserView } from "./user-view.ts";

export const findByEmail = defineOperation({
  name: "users.findByEmail",
  summary: "Finds a user by email address",
  access: "operator",
  limit: null,
  input: z.strictObject({ email: z.string().trim() }),
  reasons: ["not_found"],
  output: UserView,
  run: async (deps: { database: Queryable }, _caller, { email }) =>
    (await findUserByEmail(deps.database, email)) ?? notFound("user"),
});
