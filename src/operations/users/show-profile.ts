import { z } from "zod";
import { notFound } from "../../domain/refusals/refusal.ts";
import type { Queryable } from "../../store/database.ts";
import { findUser } from "../../store/users/users.ts";
import { defineOperation } from "../operation.ts";
import { UserView } from "./user-view.ts";

export const showProfile = defineOperation({
  name: "users.me",
  summary: "Shows the caller's account",
  access: "person",
  permission: "users:read",
  limit: "api",
  input: z.strictObject({}),
  reasons: ["not_found"],
  output: UserView,
  run: async (deps: { database: Queryable }, caller) =>
    (await findUser(deps.database, caller.userId)) ?? notFound("user"),
});
