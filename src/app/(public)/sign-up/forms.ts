"use server";

import type { Outcome } from "../../../ui/outcome.ts";
import { catchRefusals } from "../../gate/outcome.ts";
import { signUp } from "./actions.ts";

export async function submitSignUp(_before: Outcome, form: FormData): Promise<Outcome> {
  return catchRefusals(form, () => signUp(form));
}
