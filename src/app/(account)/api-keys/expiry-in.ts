/** Field: `expiresAt`, a time, or the last day (UTC) on which a key is valid; empty for a year, `never` for never. */
export function expiryIn(form: FormData): { expiresAt?: FormDataEntryValue | null } {
  const expiresAt = form.get("expiresAt");
  if (!expiresAt) return {};
  return { expiresAt: expiresAt === "never" ? null : endOfDay(expiresAt) };
}

/** A date input's day as the last moment of that day; any other value unchanged. */
function endOfDay(day: FormDataEntryValue): FormDataEntryValue {
  return typeof day === "string" && /^\d{4}-\d\d-\d\d$/.test(day) ? `${day}T23:59:59.999Z` : day;
}
