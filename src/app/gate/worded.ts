import type { Outcome } from "../../ui/outcome.ts";

/** Says more exactly what a page knows of its own refusals. @param words by the field that one is about, else by its code */
export function worded<Value>(outcome: Outcome<Value>, words: Record<string, string>): Outcome<Value> {
  if (outcome === null || outcome.done) return outcome;
  return { ...outcome, message: words[outcome.field ?? outcome.code] ?? outcome.message };
}
