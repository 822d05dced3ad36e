import { useState } from "react";

/**
 * A number of its own for each outcome in turn, as the `key` of what tells of it: screen readers announce what is new
 * in the document, not the same text that stays.
 */
export function useOccurrence(outcome: object | null): number {
  const [latest, setLatest] = useState({ outcome, number: 0 });
  if (latest.outcome === outcome) return latest.number;
  const number = latest.number + 1;
  setLatest({ outcome, number });
  return number;
}
