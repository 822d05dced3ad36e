"use server";

import type { Outcome } from "../../../ui/outcome.ts";
import { outcomeOf } from "../../gate/outcome.ts";
import { signUp } from "./actions.ts";

export async function createAccount(_before: Outcome, form: FormData): Promise<Outcome> {
  return outcomeOf(form, () => signUp(form));
}
