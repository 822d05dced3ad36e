import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { SLOTS, type Slot } from "../../src/domain/slot.ts";
import type { WireFormat } from "../../src/providers/adapter.ts";
import { wireFormats } from "../../src/providers/registry.ts";
import { percentile } from "../../src/simulator/scenario/stats.ts";
import { eventually } from "../support/eventually.ts";
import { actAsCustomer } from "./disorder/customer.ts";
import { findDifferences } from "./disorder/differences.ts";
import { openShop } from "./disorder/shop.ts";
import { type Delay, watchSubscriptions } from "./disorder/watch.ts";
import { isFullProof, report } from "./proof.ts";

/** Per format: ten thousand in all, a hundred in the suite; `PROOF_SEEDS` for another number. */
const SEEDS = Number(process.env.PROOF_SEEDS ?? (isFullProof ? 2_500 : 25));
const FIRST_SEED = Number(process.env.FIRST_SEED ?? 1);
/** How many share a server and its database. */
const BATCH = 500;
const SEEDS_PER_KILL = isFullProof ? 100 : 8;
/** Keeps each slot below the five comparisons a second that self-healing asks of a provider. */
const MIN_SEED_MS = isFullProof ? 1_000 : 0;

const MATCHES_WITHIN_MS = 2_000;
/** A crashed process's lease must run out, and what it had begun is due again only then. */
const MATCHES_WITHIN_MS_AFTER_KILL = 10_000;

const batches = Array.from({ length: Math.ceil(SEEDS / BATCH) }, (_, at) => FIRST_SEED + at * BATCH).flatMap(
  (first) =>
    wireFormats().map((format) => ({
      format,
      first,
      count: Math.min(BATCH, FIRST_SEED + SEEDS - first),
    })),
);
const results: { format: WireFormat; kills: number; delays: Delay[] }[] = [];

/**
 * Lost, doubled, swapped, delayed and damaged deliveries, some of the same second, and killed servers,
 * without an operator: each subscription ends as its provider has it.
 */
it.concurrent.each(batches)(
  "$count subscriptions with disordered events match the provider's in the format $format, from seed $first on",
  async ({ format, first, count }) => {
    const shop = await openShop(format, first + count);
    const watch = watchSubscriptions(shop);
    let seedsDone = 0;
    const actAsCustomers = async (slot: Slot) => {
      for (let seed = first + SLOTS.indexOf(slot); seed < first + count; seed += SLOTS.length) {
        await Promise.all([actAsCustomer(shop, slot, seed, watch), sleep(MIN_SEED_MS)]);
        seedsDone += 1;
        if (seedsDone % SEEDS_PER_KILL === 0 && seedsDone < count) await shop.killAndRestart();
      }
    };
    await Promise.all(SLOTS.map(actAsCustomers));
    await shop.sim.settle();
    const delays = await watch.stop();
    await eventually(() => findDifferences(shop, null), []);
    results.push({ format, kills: shop.downtimes.length, delays });
    await shop.close();
  },
  3_600_000,
);

// Not in the suite, in which a test must not depend on how busy the machine is.
if (isFullProof) {
  it("each subscription matches within 2 s of its last delivery, and within 10 s near a kill", async () => {
    for (const format of wireFormats()) await reportDelays(format);
    expect(results.flatMap((result) => result.delays).filter(isLate)).toEqual([]);
  });
}

function isLate({ matchedAfterMs, accessEndedAfterMs, isInterrupted }: Delay): boolean {
  const withinMs = isInterrupted ? MATCHES_WITHIN_MS_AFTER_KILL : MATCHES_WITHIN_MS;
  return Math.max(matchedAfterMs, accessEndedAfterMs ?? 0) > withinMs;
}

async function reportDelays(format: WireFormat): Promise<void> {
  const ofFormat = results.filter((result) => result.format === format);
  const delays = ofFormat.flatMap((result) => result.delays);
  const [interrupted, smooth] = [
    delays.filter((d) => d.isInterrupted),
    delays.filter((d) => !d.isInterrupted),
  ];
  const access = (delays: readonly Delay[]) =>
    delays.flatMap(({ accessEndedAfterMs }) => accessEndedAfterMs ?? []);
  const matched = (delays: readonly Delay[]) => delays.map(({ matchedAfterMs }) => matchedAfterMs);
  await report("disorder", {
    format,
    seeds: delays.length,
    kills: ofFormat.reduce((sum, { kills }) => sum + kills, 0),
    "seconds until a subscription matches, median": seconds(percentile(matched(smooth), 0.5)),
    p99: seconds(percentile(matched(smooth), 0.99)),
    longest: seconds(percentile(matched(smooth), 1)),
    "of them near a kill": interrupted.length,
    "longest near a kill": seconds(percentile(matched(interrupted), 1)),
    ended: access(delays).length,
    "longest access after the end": seconds(percentile(access(smooth), 1)),
    "longest access near a kill": seconds(percentile(access(interrupted), 1)),
    late: delays.filter(isLate).length,
  });
}

function seconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}
