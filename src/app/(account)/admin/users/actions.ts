"use server";

import { revalidatePath } from "next/cache";
import { refuse } from "../../../../domain/refusal.ts";
import { changeRole } from "../../../../operations/users/change-role.ts";
import { deleteUser as deleteUserOperation } from "../../../../operations/users/delete-user.ts";
import { formText } from "../../../gate/form-text.ts";
import { runAction } from "../../../gate/run-action.ts";
import { findUser } from "./find-user.ts";

/** Of the form: `userId` and `role`. */
export async function changeUserRole(form: FormData): Promise<void> {
  await runAction(changeRole, form, () => ({
    userId: formText(form, "userId"),
    role: formText(form, "role"),
  }));
  revalidatePath("/admin/users", "layout");
}

/** Of the form: `userId`, and as `confirmation` the e-mail address of whom it names. */
export async function deleteUser(form: FormData): Promise<void> {
  await runAction(deleteUserOperation, form, async () => {
    const userId = formText(form, "userId");
    const found = userId === null ? null : await findUser(userId);
    const confirmation = formText(form, "confirmation")?.trim().toLowerCase();
    if (found !== null && confirmation !== found.email.toLowerCase()) {
      refuse("invalid_input", "confirmation: expected the e-mail address of this account");
    }
    return { userId };
  });
  revalidatePath("/admin/users", "layout");
}
