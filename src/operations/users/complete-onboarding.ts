import { z } from "zod";
import { notFound } from "../../domain/refusals/refusal.ts";
import type { Queryable } from "../../store/database.ts";
import { markOnboarded } from "../../store/users/users.ts";
import { defineOperation } from "../operation.ts";
import { UserView } from "./user-view.ts";

export const completeOnboarding = defineOperation({
  name: "users.completeOnboarding",
  summary: "Marks the caller's onboarding as complete; idempotent",
  access: "person",
  limit: "settings",
  input: z.strictObject({}),
  reasons: ["not_found"],
  output: UserView,
  run: async (deps: { database: Queryable }, caller) =>
    (await markOnboarded(deps.database, caller.userId)) ?? notFound("user"),
});
