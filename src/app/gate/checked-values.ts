import { getTranslations } from "next-intl/server";
import { FieldError } from "./field-error.ts";

/**
 * The values whose boxes are ticked in the check box group `name`; `null` when the form has no such group.
 * Unticked boxes are not sent.
 * @throws FieldError when none is ticked
 */
export async function checkedValues(form: FormData, name: string): Promise<string[] | null> {
  const prefix = `${name}.`;
  const values = [...form.keys()]
    .filter((field) => field.startsWith(prefix))
    .map((field) => field.slice(prefix.length));
  if (values.length > 0) return values;
  if (!form.has(name)) return null;
  const t = await getTranslations("refusals.problems");
  throw new FieldError(name, t("too_few", { min: 1 }));
}
