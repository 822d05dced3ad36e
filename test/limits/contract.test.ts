import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ClosableRateLimit, createRateLimit } from "../../src/limits/create-rate-limit.ts";
import type { RateLimit } from "../../src/limits/rate-limit.ts";
import { createLog } from "../../src/observability/log.ts";
import { describeWith } from "../support/installed-programs.ts";
import { REDIS, startRedis, type TestRedis } from "../support/redis.ts";
import { mostInAnyWindow, oracle } from "./oracle.ts";
import { untilShared } from "./until-shared.ts";

const START = 1_800_000_000_000;
let now = START;
const clock = () => now;

const { "redis-server": program } = REDIS;
let redis: TestRedis;
let clusterNode: TestRedis;

const stores: [string, () => Promise<ClosableRateLimit>][] = [
  ["in memory", () => createRateLimit({ redisUrls: null, log: createLog("silent"), now: clock })],
];
if (program) {
  const inRedis = async (...redisUrls: string[]) => {
    const limiter = await createRateLimit({
      redisUrls,
      log: createLog("silent"),
      now: clock,
      redisNow: clock,
      answerWithinMs: 10_000,
    });
    await untilShared(limiter.rateLimit, () => {
      now += 1_000;
    });
    return limiter;
  };
  beforeAll(async () => {
    redis = await startRedis(program);
    clusterNode = await startRedis(program, { cluster: true });
  });
  afterAll(async () => {
    await redis.remove();
    await clusterNode.remove();
  });
  stores.push(
    ["in Redis", () => inRedis(redis.url)],
    ["in a Redis cluster", () => inRedis(clusterNode.url, clusterNode.url)],
    ["in a Redis cluster given by one of its nodes", () => inRedis(clusterNode.url)],
  );
} else {
  describeWith("the limiter in Redis", REDIS, () => {});
}

describe.each(stores)("the limiter %s", (name, open) => {
  let store: ClosableRateLimit;
  let rateLimit: RateLimit;
  let keys = 0;
  const freshKey = () => `api:user_${keys++} ${name}`;
  beforeAll(async () => {
    store = await open();
    rateLimit = store.rateLimit;
  });
  afterAll(() => store.close());

  it("admits up to the limit, refuses, and admits again when the oldest request expires", async () => {
    const key = freshKey();
    const policy = { limit: 2, windowSeconds: 60 };
    now = START;
    expect(await rateLimit(key, policy)).toEqual({ allowed: true, remaining: 1, resetAt: START + 60_000 });
    now = START + 10_000;
    expect(await rateLimit(key, policy)).toEqual({ allowed: true, remaining: 0, resetAt: START + 60_000 });
    now = START + 59_999;
    expect(await rateLimit(key, policy)).toEqual({ allowed: false, remaining: 0, resetAt: START + 60_000 });
    now = START + 60_000;
    expect(await rateLimit(key, policy)).toEqual({ allowed: true, remaining: 0, resetAt: START + 70_000 });
  });

  it("makes the same decisions as an oracle that keeps every request", async () => {
    const step = fc.record({
      after: fc.oneof(
        fc.constant(0),
        fc.integer({ min: 0, max: 4_000 }),
        fc.constantFrom(9_999, 10_000, 10_001),
      ),
      key: fc.constantFrom("api:a", "api:b:c", "plugin:{a}:c", "api:2001:db8::1"),
      limit: fc.constantFrom(1, 3, 5, 12),
      windowSeconds: fc.constantFrom(10, 20),
      cost: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 12 })),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60 }), async (steps) => {
        const expected = oracle();
        const own = freshKey();
        now = START;
        for (const { after, key, limit, windowSeconds, cost } of steps) {
          now += after;
          const request = { limit, windowSeconds, cost: Math.min(cost, limit) };
          expect(await rateLimit(`${key}${own}`, request)).toEqual(
            expected(now, { key: `${key}${own}`, ...request }),
          );
        }
      }),
      { numRuns: 60 },
    );
  });

  it("admits at most the limit in any window, and refuses only beyond it", async () => {
    const policy = { limit: 7, windowSeconds: 10 };
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 3_000 }), { minLength: 20, maxLength: 80 }),
        async (pauses) => {
          const key = freshKey();
          const admitted: number[] = [];
          now = START;
          for (const pause of pauses) {
            now += pause;
            const { allowed } = await rateLimit(key, policy);
            if (allowed) admitted.push(now);
            else expect(mostInAnyWindow([...admitted, now], 10_000)).toBeGreaterThan(7);
          }
          expect(mostInAnyWindow(admitted, 10_000)).toBeLessThanOrEqual(7);
        },
      ),
      { numRuns: 40 },
    );
  });

  it("returns in resetAt the first millisecond at which the same request is admitted", async () => {
    const step = fc.record({
      after: fc.integer({ min: 0, max: 3_000 }),
      cost: fc.integer({ min: 1, max: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        const key = freshKey();
        now = START;
        for (const { after, cost } of steps) {
          now += after;
          const policy = { limit: 5, windowSeconds: 10, cost };
          const { allowed, resetAt } = await rateLimit(key, policy);
          if (allowed) continue;
          now = resetAt - 1;
          expect(await rateLimit(key, policy)).toMatchObject({ allowed: false, resetAt });
          now = resetAt;
          expect(await rateLimit(key, policy)).toMatchObject({ allowed: true });
        }
      }),
      { numRuns: 40 },
    );
  });

  it("does not count refused requests", async () => {
    const key = freshKey();
    const policy = { limit: 1, windowSeconds: 10 };
    now = START;
    await rateLimit(key, policy);
    for (let n = 0; n < 100; n += 1) {
      now += 99;
      expect(await rateLimit(key, policy)).toMatchObject({ allowed: false, resetAt: START + 10_000 });
    }
    now = START + 10_000;
    expect(await rateLimit(key, policy)).toMatchObject({ allowed: true });
  });

  it("still admits smaller requests after refusing a larger one", async () => {
    const key = freshKey();
    now = START;
    expect(await rateLimit(key, { limit: 5, windowSeconds: 10, cost: 3 })).toMatchObject({ remaining: 2 });
    expect(await rateLimit(key, { limit: 5, windowSeconds: 10, cost: 3 })).toMatchObject({
      allowed: false,
      remaining: 2,
    });
    expect(await rateLimit(key, { limit: 5, windowSeconds: 10, cost: 2 })).toMatchObject({ allowed: true });
    expect(await rateLimit(key, { limit: 5, windowSeconds: 10 })).toMatchObject({ allowed: false });
  });

  it("counts a key once per length of the window, whatever the limit", async () => {
    const key = freshKey();
    now = START;
    for (let n = 0; n < 4; n += 1) await rateLimit(key, { limit: 10, windowSeconds: 10 });
    expect(await rateLimit(key, { limit: 4, windowSeconds: 10 })).toMatchObject({
      allowed: false,
      remaining: 0,
    });
    expect(await rateLimit(key, { limit: 2, windowSeconds: 10 })).toMatchObject({
      allowed: false,
      remaining: 0,
    });
    expect(await rateLimit(key, { limit: 10, windowSeconds: 10 })).toMatchObject({
      allowed: true,
      remaining: 5,
    });
    expect(await rateLimit(key, { limit: 4, windowSeconds: 20 })).toMatchObject({
      allowed: true,
      remaining: 3,
    });
  });

  it("is exact for hundreds of requests in a window", async () => {
    const key = freshKey();
    const expected = oracle();
    now = START;
    for (let n = 0; n < 900; n += 1) {
      now += (n * 7919) % 61;
      const request = { limit: 400, windowSeconds: 10, cost: 1 + (n % 3) };
      expect(await rateLimit(key, request)).toEqual(expected(now, { key, ...request }));
    }
  });

  it.each([
    ["limit", { limit: 0, windowSeconds: 60 }],
    ["limit", { limit: 1.5, windowSeconds: 60 }],
    ["limit", { limit: Number.NaN, windowSeconds: 60 }],
    ["limit", { limit: Number.POSITIVE_INFINITY, windowSeconds: 60 }],
    ["windowSeconds", { limit: 1, windowSeconds: 0 }],
    ["windowSeconds", { limit: 1, windowSeconds: -1 }],
    ["windowSeconds", { limit: 1, windowSeconds: Number.NaN }],
    ["windowSeconds", { limit: 1, windowSeconds: Number.POSITIVE_INFINITY }],
    ["windowSeconds", { limit: 1, windowSeconds: 0.0001 }],
    ["cost", { limit: 3, windowSeconds: 60, cost: 4 }],
    ["cost", { limit: 3, windowSeconds: 60, cost: 0 }],
    ["cost", { limit: 3, windowSeconds: 60, cost: -1 }],
    ["cost", { limit: 3, windowSeconds: 60, cost: 1.5 }],
    ["cost", { limit: 3, windowSeconds: 60, cost: Number.NaN }],
  ])("throws a RangeError that names the invalid %s of %j", async (what, options) => {
    const call = async () => rateLimit(freshKey(), options);
    await expect(call()).rejects.toThrow(RangeError);
    await expect(call()).rejects.toThrow(new RegExp(`^${what}: `));
  });

  it.each([[""], ["x".repeat(1025)], ["api:\ud800"]])("rejects the key %j", async (key) => {
    await expect((async () => rateLimit(key, { limit: 1, windowSeconds: 1 }))()).rejects.toThrow(/^key: /);
  });

  it("counts similar keys separately", async () => {
    const own = freshKey();
    const alike = [
      "a:b",
      "a%3Ab",
      "a:{b}",
      "a:%7Bb}",
      "a:%257Bb}",
      "A:b",
      "a:b ",
      " a:b",
      "a:b\0",
      "a:b\n",
      "a:\u00e9",
      "a:e\u0301",
      "__proto__",
      "constructor",
      "a::b",
    ];
    now = START;
    for (const key of alike) {
      const policy = { limit: 1, windowSeconds: 10 };
      expect([key, (await rateLimit(`${key}${own}`, policy)).allowed]).toEqual([key, true]);
      expect([key, (await rateLimit(`${key}${own}`, policy)).allowed]).toEqual([key, false]);
    }
  });
});
