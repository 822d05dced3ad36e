/**
 * A text field of a form; `null` when it is missing or a file.
 * @param form may be anything: an action can be called with any arguments
 */
export function formText(form: FormData, name: string): string | null {
  const value = form instanceof FormData ? form.get(name) : null;
  return typeof value === "string" ? value : null;
}
