"use server";

import { refuse } from "../../domain/refusal.ts";
import type { Outcome } from "../../ui/outcome.ts";
import { catchRefusals } from "./outcome.ts";

/** The one endpoint of forms: runs the action that the form was bound to. @see formAction */
export async function submitForm(
  action: (form: FormData) => Promise<unknown>,
  _previous: Outcome,
  form: FormData,
): Promise<Outcome> {
  return catchRefusals(form, () =>
    typeof action === "function" ? action(form) : refuse("invalid_input", "expected an action"),
  );
}
