import { z } from "zod";
import { notFound } from "../../domain/refusals/refusal.ts";
import { UserId } from "../../domain/users/user-id.ts";
import { withAudit } from "../../store/audit/with-audit.ts";
import type { Database } from "../../store/database.ts";
import { disableTwoFactor as disableIn } from "../../store/sign-in/two-factor-changes.ts";
import { defineOperation } from "../operation.ts";

export const disableTwoFactor = defineOperation({
  name: "users.disableTwoFactor",
  summary: "Turns off the two-factor authentication of a user who has lost their phone and backup codes",
  // Not for administrators: a stolen session could reduce every other account to its password.
  access: "operator",
  limit: null,
  input: z.strictObject({ userId: UserId }),
  reasons: ["not_found"],
  output: z.object({ disabled: z.boolean().describe("`false`: it was not on.") }),
  run: async (deps: { database: Database }, caller, { userId }) => {
    const target = { type: "user", id: userId } as const;
    const outcome = await withAudit(
      deps.database,
      caller,
      (transaction) => disableIn(transaction, userId),
      (outcome) => (outcome === "disabled" ? { action: "user.two_factor_disabled", target } : null),
    );
    return outcome === "unknown" ? notFound("user") : { disabled: outcome === "disabled" };
  },
});
