"use server";

import type { Outcome } from "../../../ui/outcome.ts";
import { catchRefusals } from "../../gate/outcome.ts";
import { resetPassword } from "./actions.ts";

export async function submitResetPassword(_before: Outcome, form: FormData): Promise<Outcome> {
  return catchRefusals(form, () => resetPassword(form));
}
