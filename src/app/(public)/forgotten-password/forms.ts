"use server";

import type { Outcome } from "../../../ui/outcome.ts";
import { catchRefusals } from "../../gate/outcome.ts";
import { requestPasswordReset } from "./actions.ts";

export async function submitForgottenPassword(_before: Outcome, form: FormData): Promise<Outcome> {
  return catchRefusals(form, () => requestPasswordReset(form));
}
