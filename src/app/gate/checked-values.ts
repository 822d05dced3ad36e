/**
 * The values whose boxes are ticked in the check box group `name`; `null` when the form has no such group.
 * Unticked boxes are not sent.
 */
export function checkedValues(form: FormData, name: string): string[] | null {
  const prefix = `${name}.`;
  const values = [...form.keys()]
    .filter((field) => field.startsWith(prefix))
    .map((field) => field.slice(prefix.length));
  return values.length > 0 || form.has(name) ? values : null;
}
