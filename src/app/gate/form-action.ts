import type { FormAction } from "../../ui/action-form.tsx";
import { submitForm } from "./submit-form.ts";

/** A named action, which throws, as a form wants it: with refusals returned as the form's outcome. */
export function formAction(action: (form: FormData) => Promise<unknown>): FormAction {
  return submitForm.bind(null, action);
}
