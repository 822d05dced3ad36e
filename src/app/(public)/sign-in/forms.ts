"use server";

import type { Outcome } from "../../../ui/outcome.ts";
import { outcomeOf } from "../../gate/outcome.ts";
import { signIn } from "./actions.ts";

export async function openSession(_before: Outcome, form: FormData): Promise<Outcome> {
  return outcomeOf(form, () => signIn(form));
}
