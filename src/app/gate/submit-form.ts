"use server";

import { revalidatePath } from "next/cache";
import { refuse } from "../../domain/refusals/refusal.ts";
import type { FormOutcome } from "../../ui/outcome.ts";
import { catchRefusals } from "./outcome.ts";

type Action = (form: FormData) => Promise<unknown>;

/** The one endpoint of forms: runs the action that the form was bound to. @see formAction */
export async function submitForm(
  action: Action,
  _previous: FormOutcome,
  form: FormData,
): Promise<FormOutcome> {
  const outcome = await catchRefusals(form, () =>
    isServerAction(action)
      ? action(form)
      : refuse({ reason: "invalid_input", params: { problem: "invalid" } }),
  );
  // The page was rendered before the conflicting change.
  if (outcome?.done === false && outcome.code === "conflict") revalidatePath("/", "layout");
  return outcome;
}

/** Clients can send anything instead; what React decodes to a function need not be callable here. */
function isServerAction(action: unknown): action is Action {
  return (
    typeof action === "function" &&
    (action as { $$typeof?: symbol }).$$typeof === Symbol.for("react.server.reference")
  );
}
