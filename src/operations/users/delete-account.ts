import { z } from "zod";
import { assertConfirmed, Confirmation } from "../../accounts/confirmation.ts";
import { DELETION_REASONS, type DeletionTools, deletePerson } from "../../accounts/delete-person.ts";
import { defineOperation } from "../operation.ts";

export const deleteAccount = defineOperation({
  name: "users.deleteAccount",
  summary: "Deletes the caller's account and all personal data, and cancels its subscriptions",
  access: "session",
  limit: "settings",
  input: z.strictObject({ confirmation: Confirmation }),
  reasons: DELETION_REASONS,
  output: z.object({ success: z.literal(true) }),
  run: async (deps: DeletionTools, caller, { confirmation }) => {
    const { userId } = caller;
    await assertConfirmed(deps, userId, confirmation);
    await deletePerson(deps, userId, { by: caller });
    return { success: true as const };
  },
});
