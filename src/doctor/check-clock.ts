import { broken, type Finding, good, skipped, warning } from "./finding.ts";

/** How far somebody else's clock is ahead of ours; `null`: not known. */
export type OtherClock = { whose: string; aheadMs: number | null };

/** Date headers tell whole seconds, and answers take their time. */
const UNREMARKABLE_MS = 5_000;

/** Signatures are only good for so long: a clock that is further off refuses every delivery. */
export function checkClock(clocks: readonly OtherClock[], toleranceSeconds: number): Finding {
  const known = clocks.flatMap(({ whose, aheadMs }) => (aheadMs === null ? [] : [{ whose, aheadMs }]));
  const [worst] = known.toSorted((a, b) => Math.abs(b.aheadMs) - Math.abs(a.aheadMs));
  if (!worst) return skipped("clock", "there was none to compare it with");
  const { whose, aheadMs } = worst;
  const offMs = Math.abs(aheadMs);
  if (offMs <= UNREMARKABLE_MS)
    return good("clock", `agrees with ${known.map((one) => one.whose).join(", ")}`);
  const seen = `${Math.round(offMs / 1000)} s ${aheadMs > 0 ? "behind" : "ahead of"} ${whose}`;
  const remedy = "Have the time set by NTP on this machine, and on the other one.";
  return offMs >= toleranceSeconds * 1000 ? broken("clock", seen, remedy) : warning("clock", seen, remedy);
}
