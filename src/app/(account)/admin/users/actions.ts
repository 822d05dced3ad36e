"use server";

import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";
import { refuse } from "../../../../domain/refusal.ts";
import { changeRole } from "../../../../operations/users/change-role.ts";
import { deleteUser as deleteUserOperation } from "../../../../operations/users/delete-user.ts";
import { formText } from "../../../gate/form-text.ts";
import { requireUser } from "../../../gate/request.ts";
import { runAction } from "../../../gate/run-action.ts";
import { findUser } from "./find-user.ts";

/** Fields: `userId` and `role`. */
export async function changeUserRole(form: FormData): Promise<void> {
  const userId = formText(form, "userId");
  const role = formText(form, "role");
  await runAction(changeRole, form, () => ({ userId, role }));
  revalidatePath("/admin/users", "layout");
  // Who has given up the role may no longer see this page.
  if (role === "user" && userId === (await requireUser()).userId) redirect("/dashboard");
}

/** Fields: `userId`, and as `confirmation` that user's email address. */
export async function deleteUser(form: FormData): Promise<never> {
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
  redirect("/admin/users?done=deleted");
}
