import plans from "../../plans.config.ts";
import { checkFeature } from "../../src/domain/entitlements/check-feature.ts";
import { entitlementsOf } from "../../src/domain/entitlements/entitlements.ts";
import { usedOf } from "../../src/domain/entitlements/shown-entitlements.ts";
import { perSlot } from "../../src/domain/slot.ts";
import { traitsOf } from "../../src/providers/registry.ts";
import { BrokenMeasurement } from "../shared/broken.ts";
import { median } from "../shared/statistics.ts";
import type { Turns } from "../shared/turns.ts";

const DAY_MS = 86_400_000;
const AT_ONCE = 10_000;

/**
 * How often it is decided whether a user may use a feature: each of a paid plan in turn, the median of the
 * rounds.
 */
export async function checksPerSecond({ rounds, seconds }: Turns): Promise<number> {
  const now = new Date();
  const current = entitlementsOf(
    [
      {
        provider: "provider-a",
        planId: "pro",
        status: "active",
        currentPeriodEnd: new Date(now.getTime() + 9 * DAY_MS),
      } as never,
    ],
    { plans, traits: perSlot(() => traitsOf("stripe")) },
    now,
  );
  const features = [...current.features.keys()];
  const usage = features.map((feature) => ({
    feature,
    periodEndMs: current.features.get(feature)?.resetsAt.getTime() ?? 0,
    used: 7,
  }));
  const rates: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const startedAt = performance.now();
    let decided = 0;
    let allowed = 0;
    while (performance.now() - startedAt < seconds * 1_000) {
      for (let n = 0; n < AT_ONCE; n += 1) {
        const feature = features[n % features.length] as string;
        const used = usedOf(current, usage, feature);
        if (checkFeature(current, feature, { amount: 1 + (n % 3), used })?.allowed) allowed += 1;
      }
      decided += AT_ONCE;
    }
    if (allowed === 0) throw new BrokenMeasurement("nothing was allowed");
    // The first one warms up.
    if (round > 0) rates.push((decided * 1_000) / (performance.now() - startedAt));
  }
  return median(rates);
}
