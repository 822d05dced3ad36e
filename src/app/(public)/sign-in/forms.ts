"use server";

import type { Outcome } from "../../../ui/outcome.ts";
import { catchRefusals } from "../../gate/outcome.ts";
import { signIn } from "./actions.ts";

export async function submitSignIn(_before: Outcome, form: FormData): Promise<Outcome> {
  return catchRefusals(form, () => signIn(form));
}
