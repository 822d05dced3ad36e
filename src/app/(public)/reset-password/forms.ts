"use server";

import type { Outcome } from "../../../ui/outcome.ts";
import { outcomeOf } from "../../gate/outcome.ts";
import { resetPassword } from "./actions.ts";

export async function setPassword(_before: Outcome, form: FormData): Promise<Outcome> {
  return outcomeOf(form, () => resetPassword(form));
}
