import { expect, it } from "vitest";
import { CallCollector, type Entry } from "../../src/limits/call-collector.ts";

const WAITING = { resolve() {}, reject() {}, permit: "yes" } as const;

it("sends calls for one key in the order in which they were made, whatever they cost", async () => {
  const sent = await new Promise<readonly Entry[]>((send) => {
    const calls = new CallCollector({ canShare: () => true, send });
    for (const cost of [5, 1, 6, 1]) {
      calls.add("api:user_1", "node", { redisKey: "key", limit: 10, windowMs: 60_000, cost }, WAITING);
    }
  });
  // A call that costs one is counted with an earlier one.
  expect(sent.map(({ cost, times }) => [cost, times])).toEqual([
    [5, 1],
    [1, 2],
    [6, 1],
  ]);
});

it("counts calls for one key under two limits apart", async () => {
  const sent = await new Promise<readonly Entry[]>((send) => {
    const calls = new CallCollector({ canShare: () => true, send });
    for (const limit of [10, 2, 10]) {
      calls.add("api:user_1", "node", { redisKey: "key", limit, windowMs: 60_000, cost: 1 }, WAITING);
    }
  });
  expect(sent.map(({ limit, times }) => [limit, times])).toEqual([
    [10, 2],
    [2, 1],
  ]);
});
