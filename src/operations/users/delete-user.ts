import { z } from "zod";
import { assertConfirmed, Confirmation } from "../../accounts/confirmation.ts";
import { DELETION_REASONS, type DeletionTools, deletePerson } from "../../accounts/delete-person.ts";
import { UserId } from "../../domain/users/user-id.ts";
import { defineOperation } from "../operation.ts";

export const deleteUser = defineOperation({
  name: "users.delete",
  summary: "Deletes a user's account and all personal data, and cancels its subscriptions",
  access: "admin",
  limit: "admin",
  input: z.strictObject({ userId: UserId, confirmation: Confirmation }),
  reasons: DELETION_REASONS,
  output: z.object({ success: z.literal(true) }),
  run: async (deps: DeletionTools, caller, { userId, confirmation }) => {
    await assertConfirmed(deps, userId, confirmation);
    await deletePerson(deps, userId, { by: caller });
    return { success: true as const };
  },
});
