/**
 * A field of a form as text; whatever else was sent in its place is not there.
 * @param form in an action, anything at all, as anybody may call it
 */
export function formText(form: FormData, name: string): string | null {
  const value = form instanceof FormData ? form.get(name) : null;
  return typeof value === "string" ? value : null;
}
