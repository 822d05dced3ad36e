/** A field of a form as text; whatever else was sent in its place is not there. */
export function formText(form: FormData, name: string): string | null {
  const value = form.get(name);
  return typeof value === "string" ? value : null;
}
