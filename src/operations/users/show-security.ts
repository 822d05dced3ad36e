import { z } from "zod";
import { notFound } from "../../domain/refusals/refusal.ts";
import type { Queryable } from "../../store/database.ts";
import { findAccountSecurity } from "../../store/sign-in/account-security.ts";
import { defineOperation } from "../operation.ts";

export const showSecurity = defineOperation({
  name: "users.security",
  summary: "Shows the caller's security settings",
  access: "session",
  limit: "settings",
  input: z.strictObject({}),
  reasons: ["not_found"],
  output: z.object({
    hasTwoFactor: z.boolean(),
    needsTwoFactor: z.boolean().describe("Whether an administrator must set up a second factor first."),
    pendingEmail: z.string().nullable().describe("The new email address, not confirmed yet; `null`: none."),
  }),
  run: async (deps: { database: Queryable }, caller) => {
    const security = (await findAccountSecurity(deps.database, caller.userId)) ?? notFound("user");
    return { ...security, needsTwoFactor: caller.needsTwoFactor === true };
  },
});
