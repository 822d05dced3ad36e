"use server";

import { redirect } from "next/navigation";
import type { Outcome } from "../../../../ui/outcome.ts";
import { formText } from "../../../gate/form-text.ts";
import { outcomeOf } from "../../../gate/outcome.ts";
import { person } from "../../../gate/request.ts";
import { changeUserRole, deleteUser } from "./actions.ts";

/** Who gives the role up has no business on this page any more. */
export async function saveRole(_before: Outcome, form: FormData): Promise<Outcome> {
  const { userId } = await person();
  const outcome = await outcomeOf(form, () => changeUserRole(form));
  const hasLeft = formText(form, "userId") === userId && formText(form, "role") === "user";
  if (outcome?.done && hasLeft) redirect("/dashboard");
  return outcome;
}

export async function removeUser(_before: Outcome, form: FormData): Promise<Outcome> {
  const outcome = await outcomeOf(form, () => deleteUser(form));
  if (outcome?.done) redirect("/admin/users?done=deleted");
  return outcome;
}
