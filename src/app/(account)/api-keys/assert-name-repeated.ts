import { getTranslations } from "next-intl/server";
import { FieldError } from "../../gate/field-error.ts";
import { formText } from "../../gate/form-text.ts";

/**
 * Fields: from the page the `name` of a key with `confirmation`, which has to repeat it.
 * @throws FieldError
 */
export async function assertNameRepeated(form: FormData): Promise<void> {
  const name = formText(form, "name");
  if (name === null || asShown(formText(form, "confirmation") ?? "") === asShown(name)) return;
  throw new FieldError("confirmation", (await getTranslations("apiKeys.revoke"))("mismatch"));
}

/** Browsers show several spaces, of any kind, as one. */
function asShown(text: string): string {
  return text.trim().replaceAll(/\s+/g, " ");
}
