const PREFIX = "types.";

/** The event types whose boxes are ticked; `null` when the form has no such boxes. Unticked boxes are not sent. */
export function checkedTypes(form: FormData): string[] | null {
  const types = [...form.keys()]
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => name.slice(PREFIX.length));
  return types.length > 0 || form.has("types") ? types : null;
}
