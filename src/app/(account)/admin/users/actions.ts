"use server";

import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";
import { changeRole } from "../../../../operations/users/change-role.ts";
import { deleteUser as deleteUserOperation } from "../../../../operations/users/delete-user.ts";
import { formText } from "../../../gate/form-text.ts";
import { requireUser } from "../../../gate/request.ts";
import { runAction } from "../../../gate/run-action.ts";
import { isDeleted } from "../is-deleted.ts";

/** Fields: `userId` and `role`. */
export async function changeUserRole(form: FormData): Promise<void> {
  const userId = formText(form, "userId");
  const role = formText(form, "role");
  await runAction(changeRole, form, () => ({ userId, role }));
  revalidatePath("/admin/users", "layout");
  // Somebody who has given up the role may no longer see this page.
  if (role === "user" && userId === (await requireUser()).userId) redirect("/dashboard");
}

/** Fields: `userId`, and as `confirmation` that user's email address. */
export async function deleteUser(form: FormData): Promise<never> {
  const userId = formText(form, "userId");
  try {
    await runAction(deleteUserOperation, form, () => ({
      userId,
      confirmation: form.get("confirmation"),
    }));
  } catch (error) {
    if (!(await isDeleted(error, { type: "user", id: userId }))) throw error;
  }
  revalidatePath("/admin/users", "layout");
  redirect("/admin/users?done=deleted");
}
