const SPECIAL = /["\\]/;

/**
 * A PostgreSQL array as text, for a parameter that is cast, such as `$1::text[]`. The driver's own version
 * replaces twice per element, which was a seventh of all allocations for groups of events.
 */
export function arrayLiteral(values: readonly unknown[]): string {
  if (values.some(isUnknownToJson)) return literalOf(values);
  // Elements without escapes look the same in JSON, which is written three times as fast.
  const json = JSON.stringify(values);
  return json.includes("\\") ? literalOf(values) : `{${json.slice(1, -1)}}`;
}

function isUnknownToJson(value: unknown): boolean {
  return typeof value === "bigint" || (typeof value === "number" && !Number.isFinite(value));
}

function literalOf(values: readonly unknown[]): string {
  return `{${values.map(element).join(",")}}`;
}

function element(value: unknown): string {
  if (value === null || value === undefined) return "NULL";
  if (typeof value !== "string") return String(value);
  return SPECIAL.test(value) ? `"${value.replaceAll(/["\\]/g, "\\$&")}"` : `"${value}"`;
}
