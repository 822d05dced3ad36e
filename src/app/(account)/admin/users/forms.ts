"use server";

import { redirect } from "next/navigation";
import type { Outcome } from "../../../../ui/outcome.ts";
import { formText } from "../../../gate/form-text.ts";
import { catchRefusals } from "../../../gate/outcome.ts";
import { requireUser } from "../../../gate/request.ts";
import { changeUserRole, deleteUser } from "./actions.ts";

/** Who gives the role up has no business on this page any more. */
export async function submitRole(_before: Outcome, form: FormData): Promise<Outcome> {
  const outcome = await catchRefusals(form, () => changeUserRole(form));
  if (!outcome?.done || formText(form, "role") !== "user") return outcome;
  const { userId } = await requireUser();
  if (formText(form, "userId") === userId) redirect("/dashboard");
  return outcome;
}

export async function submitDeleteUser(_before: Outcome, form: FormData): Promise<Outcome> {
  const outcome = await catchRefusals(form, () => deleteUser(form));
  if (outcome?.done) redirect("/admin/users?done=deleted");
  return outcome;
}
