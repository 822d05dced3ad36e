import type { ChargedScope } from "./policies.ts";

/**
 * The key that requests are counted under. No scope contains a colon, so the first one ends it whatever the
 * id is.
 */
export function limitKey(scope: ChargedScope, id: string): string {
  return `${scope}:${id}`;
}

/** The scope of a key, which may be one that is not in the table. */
export function scopeOf(key: string): string {
  const colon = key.indexOf(":");
  return colon < 0 ? key : key.slice(0, colon);
}
