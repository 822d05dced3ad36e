import { z } from "zod";
import { recordAudit } from "../audit/record-audit.ts";
import { defineOperation } from "../operation.ts";
import { type DeletionTools, deletePerson } from "./delete-person.ts";
import { UserId } from "./user-id.ts";

export const deleteUser = defineOperation({
  name: "users.delete",
  summary: "Deletes somebody's account and all personal data, and ends what is being paid for",
  access: "admin",
  limit: "admin",
  input: z.strictObject({ userId: UserId }),
  output: z.object({ success: z.literal(true) }),
  run: async (deps: DeletionTools, caller, { userId }) => {
    await deletePerson(deps, userId);
    await recordAudit(deps, caller, { action: "user.deleted", target: { type: "user", id: userId } });
    return { success: true as const };
  },
});
