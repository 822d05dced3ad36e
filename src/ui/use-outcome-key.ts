import { useState } from "react";

/** A number per outcome, to be the `key` of its message: screen readers announce only what is new in the document. */
export function useOutcomeKey(outcome: object | null): number {
  const [latest, setLatest] = useState({ outcome, number: 0 });
  if (latest.outcome === outcome) return latest.number;
  const number = latest.number + 1;
  setLatest({ outcome, number });
  return number;
}
