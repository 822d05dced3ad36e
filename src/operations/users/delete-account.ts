import { z } from "zod";
import { refuse } from "../../domain/refusal.ts";
import { findUser } from "../../store/users.ts";
import { recordAudit } from "../audit/record-audit.ts";
import { defineOperation } from "../operation.ts";
import { type DeletionTools, deletePerson } from "./delete-person.ts";

export const deleteAccount = defineOperation({
  name: "users.deleteAccount",
  summary: "Deletes the caller's account and all personal data, and ends what is being paid for",
  access: "session",
  limit: "settings",
  input: z.strictObject({
    confirmation: z.string().min(1).max(320).describe("The e-mail address of the account."),
  }),
  output: z.object({ success: z.literal(true) }),
  run: async (deps: DeletionTools, caller, { confirmation }) => {
    const user =
      (await findUser(deps.database, caller.userId)) ?? refuse("not_found", "there is no such user");
    if (confirmation.trim().toLowerCase() !== user.email.toLowerCase()) {
      refuse("invalid_input", "confirmation: expected the e-mail address of this account");
    }
    await deletePerson(deps, user.id);
    await recordAudit(deps, caller, { action: "user.deleted", target: { type: "user", id: user.id } });
    return { success: true as const };
  },
});
