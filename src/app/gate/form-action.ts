import type { FormAction } from "../../ui/use-form-action.ts";
import { submitForm } from "./submit-form.ts";

/** Wraps an action for a form: a refusal that the action throws becomes the form's outcome. */
export function formAction(action: (form: FormData) => Promise<unknown>): FormAction {
  return submitForm.bind(null, action);
}
