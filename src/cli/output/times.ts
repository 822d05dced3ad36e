/** To the second, such as `2030-01-31T12:00:00Z`. */
export function inSeconds(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, "Z");
}

/** In UTC, such as `2030-01-31`. */
export function day(date: Date): string {
  return date.toISOString().slice(0, 10);
}
