import type { Scope } from "./policies.ts";

/** What requests are counted under. No scope has a colon, so the first one ends it, whatever the id is made of. */
export function limitKey(scope: Scope, id: string): string {
  return `${scope}:${id}`;
}

/** The scope of a key, which need not be one of ours. */
export function scopeOf(key: string): string {
  const colon = key.indexOf(":");
  return colon < 0 ? key : key.slice(0, colon);
}
