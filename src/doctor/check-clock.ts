import { broken, type Finding, good, skipped, warning } from "./finding.ts";

/** How far another clock is ahead of ours; `null`: unknown. */
export type OtherClock = { whose: string; aheadMs: number | null };

/** Date headers have whole seconds, and a response takes its time. */
const TOLERATED_MS = 5_000;

/**
 * Signatures contain a timestamp: a server whose clock is off by more than the tolerance refuses every
 * delivery.
 */
export function checkClock(clocks: readonly OtherClock[], toleranceSeconds: number): Finding {
  const comparable = clocks.flatMap(({ whose, aheadMs }) => (aheadMs === null ? [] : [{ whose, aheadMs }]));
  const [worst] = comparable.toSorted((a, b) => Math.abs(b.aheadMs) - Math.abs(a.aheadMs));
  if (!worst) return skipped("clock", "no other clock to compare with");
  const { whose, aheadMs } = worst;
  const offMs = Math.abs(aheadMs);
  if (offMs <= TOLERATED_MS)
    return good("clock", `agrees with ${comparable.map((clock) => clock.whose).join(", ")}`);
  const detail = `${Math.round(offMs / 1000)} s ${aheadMs > 0 ? "behind" : "ahead of"} ${whose}`;
  const remedy = "Synchronize both machines with NTP.";
  return offMs >= toleranceSeconds * 1000
    ? broken("clock", detail, remedy)
    : warning("clock", detail, remedy);
}
