import { isoText } from "../domain/iso-text.ts";

/**
 * Returns what `JSON.stringify(value)` does. Dates are converted first: each date takes `JSON.stringify` as
 * long as ten short members, and takes the values around it off the fast path.
 */
export function jsonText(value: unknown): string {
  return JSON.stringify(withoutDates(value));
}

/** The value itself if it contains no date. Copies only plain objects and arrays. */
function withoutDates(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return arrayWithoutDates(value);
  const prototype = Object.getPrototypeOf(value);
  if (prototype === Date.prototype)
    return Number.isNaN((value as Date).getTime()) ? null : isoText(value as Date);
  return prototype === Object.prototype ? objectWithoutDates(value as Record<string, unknown>) : value;
}

function arrayWithoutDates(array: unknown[]): unknown[] {
  let copy: unknown[] | null = null;
  for (let index = 0; index < array.length; index++) {
    const item = withoutDates(array[index]);
    if (item === array[index]) continue;
    copy ??= array.slice();
    copy[index] = item;
  }
  return copy ?? array;
}

function objectWithoutDates(object: Record<string, unknown>): Record<string, unknown> {
  // An object with `toJSON` serializes its own dates.
  if (typeof object.toJSON === "function") return object;
  let copy: Record<string, unknown> | null = null;
  for (const name of Object.keys(object)) {
    const before = object[name];
    if (typeof before !== "object" || before === null) continue;
    const after = withoutDates(before);
    if (after === before) continue;
    copy ??= { ...object };
    // Assigning this name would set the prototype.
    if (name === "__proto__") Object.defineProperty(copy, name, { value: after, enumerable: true });
    else copy[name] = after;
  }
  return copy ?? object;
}
