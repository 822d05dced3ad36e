"use server";

import type { Outcome } from "../../../ui/outcome.ts";
import { outcomeOf } from "../../gate/outcome.ts";
import { updateProfile } from "./actions.ts";

export async function saveProfile(_before: Outcome, form: FormData): Promise<Outcome> {
  return outcomeOf(form, () => updateProfile(form));
}
