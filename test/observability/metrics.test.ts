import { expect, it } from "vitest";
import { createMetrics } from "../../src/observability/metrics.ts";

const LINE = /^tollgate_subscriptions_needing_review\{.*$/gm;

it("reports how many subscriptions need review, as they are when it is read", async () => {
  let counts = [{ provider: "provider-a", flagged: 5, settled: 2 }];
  const metrics = createMetrics(async () => counts);
  expect((await metrics.read()).text.match(LINE)).toEqual([
    'tollgate_subscriptions_needing_review{slot="provider-a",state="waiting"} 3',
    'tollgate_subscriptions_needing_review{slot="provider-a",state="unknown"} 2',
  ]);
  counts = [];
  expect((await metrics.read()).text.match(LINE)).toBeNull();
});

it("keeps the last counts while they cannot be read", async () => {
  let isDown = false;
  const metrics = createMetrics(async () => {
    if (isDown) throw new Error("the database is away");
    return [{ provider: "provider-b", flagged: 1, settled: 0 }];
  });
  await metrics.read();
  isDown = true;
  expect((await metrics.read()).text).toContain('{slot="provider-b",state="waiting"} 1');
});
