"use server";

import type { Outcome } from "../../../ui/outcome.ts";
import { outcomeOf } from "../../gate/outcome.ts";
import { askForLink } from "./actions.ts";

export async function sendLink(_before: Outcome, form: FormData): Promise<Outcome> {
  return outcomeOf(form, () => askForLink(form));
}
