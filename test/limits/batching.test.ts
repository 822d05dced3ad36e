import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRateLimit } from "../../src/limits/create-rate-limit.ts";
import { hashSlot } from "../../src/limits/hash-slot.ts";
import type { RateLimit } from "../../src/limits/rate-limit.ts";
import { createLog } from "../../src/observability/log.ts";
import { describeWith } from "../support/installed-programs.ts";
import { REDIS, startRedis, type TestRedis } from "../support/redis.ts";
import { oracle } from "./oracle.ts";
import { untilShared } from "./until-shared.ts";

const START = 1_800_000_000_000;

describeWith("the limiter with many calls at once", REDIS, ({ "redis-server": program }) => {
  let redis: TestRedis;
  let clusterNode: TestRedis;
  let now = START;
  beforeAll(async () => {
    redis = await startRedis(program);
    clusterNode = await startRedis(program, { cluster: true });
  });
  afterAll(async () => {
    await redis.remove();
    await clusterNode.remove();
  });

  const open = async (url: string, clock?: () => number) => {
    const limiter = await createRateLimit({
      redisUrls: [url],
      log: createLog("silent"),
      answerWithinMs: 10_000,
      ...(clock ? { now: clock, redisNow: clock } : {}),
    });
    await untilShared(limiter.rateLimit, () => {
      now += 1_000;
    });
    return limiter;
  };

  describe("calls of one turn of the event loop", () => {
    it("are sent in one script call for any keys and policies", async () => {
      const { rateLimit, close } = await open(redis.url);
      const before = await redis.calls("evalsha");
      const decisions = await Promise.all(
        Array.from({ length: 200 }, (_, n) =>
          rateLimit(`api:${randomUUID()}`, { limit: 1 + (n % 3), windowSeconds: 60, cost: 1 }),
        ),
      );
      expect(decisions.every(({ allowed }) => allowed)).toBe(true);
      expect((await redis.calls("evalsha")) - before).toBe(1);
      await close();
    });

    it("are sent in one script call per key in a cluster", async () => {
      const { rateLimit, close } = await open(clusterNode.url);
      const before = await clusterNode.calls("evalsha");
      const keys = [`api:${randomUUID()}`, `api:${randomUUID()}`];
      const decisions = await Promise.all(
        Array.from({ length: 40 }, (_, n) =>
          rateLimit(keys[n % 2] as string, { limit: 15, windowSeconds: 60 }),
        ),
      );
      expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(30);
      expect((await clusterNode.calls("evalsha")) - before).toBe(2);
      await close();
    });

    it("do not fail for other keys when one key holds another type", async () => {
      const { rateLimit, close } = await open(redis.url);
      const [foreign, own] = [`api:${randomUUID()}`, `api:${randomUUID()}`];
      await redis.ask("HSET", `tollgate:limit:60000:${foreign}`, "field", "value");
      const policy = { limit: 2, windowSeconds: 60 };
      const decisions = await Promise.all(
        [foreign, own, own, foreign, own].map((key) => rateLimit(key, policy)),
      );
      expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, true, true, false]);
      await close();
    });

    it.each<[string, () => string]>([
      ["Redis", () => redis.url],
      ["a Redis cluster", () => clusterNode.url],
    ])("decides batched calls in %s as if they were made one after the other", async (_, url) => {
      const { rateLimit, close } = await open(url(), () => now);
      const call = fc.record({
        key: fc.constantFrom("api:a", "api:b", "plugin:c"),
        policy: fc.constantFrom({ limit: 3, windowSeconds: 10 }, { limit: 300, windowSeconds: 20 }),
        cost: fc.constantFrom(1, 1, 1, 2, 3),
      });
      const turn = fc.record({
        after: fc.integer({ min: 0, max: 6_000 }),
        calls: fc.array(call, { minLength: 1, maxLength: 5 }),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 20 }), async (turns) => {
          const check = serialOracle();
          const own = ` ${randomUUID()}`;
          now += 60_000;
          for (const { after, calls } of turns) {
            now += after;
            const requests = calls.map(({ key, policy, cost }) => ({ key: key + own, ...policy, cost }));
            const decisions = await Promise.all(requests.map((request) => rateLimit(request.key, request)));
            check(now, requests, decisions);
          }
        }),
        { numRuns: 40 },
      );
      await close();
    });
  });

  it("assigns keys to hash slots as Redis does", async () => {
    for (const key of ["", "a", "tollgate:limit:60000:api:user_1", "ключ", "x".repeat(500)]) {
      expect(hashSlot(key)).toBe(await clusterNode.ask("CLUSTER", "KEYSLOT", key));
    }
  });
});

type Request = { key: string; limit: number; windowSeconds: number; cost: number };
type Decided = Awaited<ReturnType<RateLimit>>;
type Call = { now: number; request: Request };

/**
 * Checks decisions of calls that were made together: some order of them must explain all, for each key by
 * itself.
 */
function serialOracle() {
  const histories = new Map<string, Call[]>();
  return (now: number, requests: readonly Request[], decisions: readonly Decided[]): void => {
    const calls = requests.map((request, index) => ({ now, request, decision: decisions[index] as Decided }));
    for (const [log, own] of Map.groupBy(calls, ({ request }) => `${request.windowSeconds} ${request.key}`)) {
      const history = histories.get(log) ?? [];
      const order = permutations(own).find((permutation) => explains(history, permutation));
      expect(order, JSON.stringify({ history, own })).toBeDefined();
      histories.set(log, [...history, ...(order ?? [])]);
    }
  };
}

function explains(history: readonly Call[], calls: readonly (Call & { decision: Decided })[]): boolean {
  const decide = oracle();
  for (const { now, request } of history) decide(now, request);
  return calls.every(({ now, request, decision }) => isDeepStrictEqual(decide(now, request), decision));
}

function permutations<Item>(items: readonly Item[]): Item[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item, index) =>
    permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest]),
  );
}
