/** A date input's day as the last moment of that day (UTC); any other value unchanged. */
export function endOfDay(day: FormDataEntryValue): FormDataEntryValue {
  return typeof day === "string" && /^\d{4}-\d\d-\d\d$/.test(day) ? `${day}T23:59:59.999Z` : day;
}
