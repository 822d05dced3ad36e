import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRateLimit } from "../../src/limits/create-rate-limit.ts";
import { LimiterUnavailable, type RateLimit } from "../../src/limits/rate-limit.ts";
import { cleanedUp } from "../support/cleanup.ts";
import { eventually } from "../support/eventually.ts";
import { describeWith } from "../support/installed-programs.ts";
import { REDIS, startRedis, type TestRedis } from "../support/redis.ts";
import { untilShared } from "./until-shared.ts";

describeWith("the limiter and Redis", REDIS, ({ "redis-server": program }) => {
  const minute = (limit: number) => ({ limit, windowSeconds: 60 });
  const freshKey = (scope = "api") => `${scope}:${randomUUID()}`;

  const SLOW = { answerWithinMs: 10_000 };

  const observed = async (url: string, options: { answerWithinMs?: number } = {}) => {
    const observations = { up: [] as boolean[], warned: 0, informed: 0, without: [] as string[] };
    const limiter = await createRateLimit({
      ...options,
      redisUrls: [url],
      log: {
        info: () => {
          observations.informed += 1;
        },
        warn: () => {
          observations.warned += 1;
        },
      },
      metrics: {
        sharedStore: (up) => observations.up.push(up),
        decidedWithoutStore: (scope, how) => observations.without.push(`${scope} ${how}`),
        memoryFull: () => {},
      },
    });
    const rateLimit = async (...call: Parameters<RateLimit>) => limiter.rateLimit(...call);
    return { rateLimit, close: cleanedUp(limiter.close), observations };
  };

  /** Connected, also where a busy machine takes longer than a start waits. */
  const connected: typeof observed = async (...options) => {
    const opened = await observed(...options);
    await untilShared(opened.rateLimit);
    expect(opened.observations.up.at(-1)).toBe(true);
    Object.assign(opened.observations, { up: [true], warned: 0, informed: 0, without: [] });
    return opened;
  };

  describe("the limiter in Redis", () => {
    let redis: TestRedis;
    beforeAll(async () => {
      redis = await startRedis(program);
    });
    afterAll(() => redis.remove());

    it("admits exactly the limit of simultaneous requests from several processes", async () => {
      const clients = await Promise.all(Array.from({ length: 4 }, () => connected(redis.url, SLOW)));
      const key = freshKey();
      const decisions = await Promise.all(
        Array.from({ length: 400 }, (_, n) => clients[n % 4]?.rateLimit(key, minute(37))),
      );
      expect(decisions.filter((decision) => decision?.allowed)).toHaveLength(37);
      expect(clients.flatMap(({ observations }) => observations.without)).not.toContain("api fallback");
      await Promise.all(clients.map(({ close }) => close()));
    });

    it("makes one script call per decision, and none while a refusal holds", async () => {
      const { rateLimit, close, observations } = await connected(redis.url, SLOW);
      const key = freshKey();
      await rateLimit(key, minute(3));
      const before = await redis.calls("evalsha");
      for (let n = 0; n < 2; n += 1) await rateLimit(key, minute(3));
      expect((await redis.calls("evalsha")) - before).toBe(2);
      const refused = await rateLimit(key, minute(3));
      for (let n = 0; n < 50; n += 1) expect(await rateLimit(key, minute(3))).toEqual(refused);
      expect((await redis.calls("evalsha")) - before).toBe(3);
      expect(observations.without).toHaveLength(50);
      await close();
    });

    it("asks Redis again for another limit, window or a larger cost", async () => {
      const { rateLimit, close } = await connected(redis.url, SLOW);
      const key = freshKey();
      await rateLimit(key, { ...minute(4), cost: 2 });
      expect(await rateLimit(key, { ...minute(4), cost: 3 })).toMatchObject({ allowed: false, remaining: 2 });
      expect(await rateLimit(key, { ...minute(4), cost: 3 })).toMatchObject({ allowed: false, remaining: 2 });
      expect(await rateLimit(key, { ...minute(4), cost: 4 })).toMatchObject({ allowed: false, remaining: 2 });
      expect(await rateLimit(key, minute(5))).toMatchObject({ allowed: true, remaining: 2 });
      expect(await rateLimit(key, { limit: 4, windowSeconds: 30 })).toMatchObject({ allowed: true });
      expect(await rateLimit(key, minute(4))).toMatchObject({ allowed: true, remaining: 0 });
      expect(await rateLimit(key, { ...minute(4), cost: 3 })).toMatchObject({ allowed: false, remaining: 0 });
      await close();
    });

    it("admits a request at resetAt, by Redis's own clock", async () => {
      const { rateLimit, close } = await connected(redis.url, SLOW);
      const key = freshKey();
      const policy = { limit: 2, windowSeconds: 2 };
      // On a busy machine the window may pass between the first calls.
      let decision = await rateLimit(key, policy);
      while (decision.allowed) decision = await rateLimit(key, policy);
      const waitMs = decision.resetAt - (performance.timeOrigin + performance.now());
      expect(waitMs).toBeLessThanOrEqual(2_001);
      await sleep(Math.max(0, waitMs) + 1);
      expect(await rateLimit(key, policy)).toMatchObject({ allowed: true });
      await close();
    });

    it("removes a key from Redis an eighth of a window after its last request has expired", async () => {
      const { rateLimit, close } = await connected(redis.url, SLOW);
      const key = freshKey();
      await rateLimit(key, { limit: 5, windowSeconds: 3_600 });
      const keptMs = Number(await redis.ask("PTTL", `tollgate:limit:3600000:${key}`));
      // An eighth of an hour is left for the question.
      expect(keptMs).toBeGreaterThan(3_600_000);
      expect(keptMs).toBeLessThanOrEqual(4_050_000);
      await rateLimit(key, { limit: 5, windowSeconds: 0.2 });
      await eventually(async () => Number(await redis.ask("EXISTS", `tollgate:limit:200:${key}`)), 0);
      await close();
    });

    it.each([100, 300])(
      "renews a key's expiry and cuts off expired times an eighth of a window after the last renewal (limit %i)",
      async (limit) => {
        const start = 1_800_000_000_000;
        let redisNow = start;
        const limiter = await createRateLimit({
          ...SLOW,
          redisUrls: [redis.url],
          log: { info: () => {}, warn: () => {} },
          redisNow: () => redisNow,
        });
        const close = cleanedUp(limiter.close);
        await untilShared(limiter.rateLimit);
        const key = freshKey();
        const stored = `tollgate:limit:80000:${key}`;
        const requestAfter = async (ms: number) => {
          redisNow = start + ms;
          await redis.ask("PEXPIRE", stored, "60000");
          await limiter.rateLimit(key, { limit, windowSeconds: 80 });
          const isRenewed = Number(await redis.ask("PTTL", stored)) > 60_000;
          // One of the times is that of the last renewal.
          return { isRenewed, counted: Number(await redis.ask("STRLEN", stored)) / 8 - 1 };
        };
        expect(await requestAfter(0)).toEqual({ isRenewed: true, counted: 1 });
        expect(await requestAfter(9_999)).toEqual({ isRenewed: false, counted: 2 });
        expect(await requestAfter(10_000)).toEqual({ isRenewed: true, counted: 3 });
        expect(await requestAfter(80_000)).toEqual({ isRenewed: true, counted: 3 });
        await close();
      },
    );

    it("sends the script again when Redis has lost it", async () => {
      const { rateLimit, close, observations } = await connected(redis.url, SLOW);
      const key = freshKey();
      await rateLimit(key, minute(3));
      await redis.ask("SCRIPT", "FLUSH");
      const decisions = await Promise.all([rateLimit(key, minute(3)), rateLimit(key, minute(3))]);
      expect(decisions.map(({ remaining }) => remaining).sort()).toEqual([0, 1]);
      expect(observations.without).toEqual([]);
      await close();
    });

    it("keeps the limit when Redis's clock is set back, and blocks for a window at most", async () => {
      let redisNow = 1_800_000_000_000;
      let now = 5_000;
      const limiter = await createRateLimit({
        ...SLOW,
        redisUrls: [redis.url],
        log: { info: () => {}, warn: () => {} },
        now: () => now,
        redisNow: () => redisNow,
      });
      const close = cleanedUp(limiter.close);
      await untilShared(limiter.rateLimit, () => {
        now += 1_000;
      });
      for (const limit of [3, 300]) {
        const key = freshKey();
        for (let n = 0; n < limit; n += 1) await limiter.rateLimit(key, minute(limit));
        redisNow -= 3_600_000;
        expect(await limiter.rateLimit(key, minute(limit))).toMatchObject({ allowed: false });
        redisNow += 60_000;
        now += 60_000;
        expect(await limiter.rateLimit(key, minute(limit))).toMatchObject({ allowed: true });
      }
      await close();
    });
  });

  describe("when Redis does not answer", () => {
    let redis: TestRedis;
    beforeAll(async () => {
      redis = await startRedis(program);
    });
    afterAll(() => redis.remove());

    it.each([
      ["is stopped", (own: TestRedis) => own.signal("SIGSTOP"), (own: TestRedis) => own.signal("SIGCONT")],
      ["is killed", (own: TestRedis) => own.kill(), (own: TestRedis) => own.restart()],
    ])(
      "and %s: counts in this process, refuses sign-in and billing, and recovers",
      async (_, end, restore) => {
        const { rateLimit, close, observations } = await connected(redis.url);
        const key = freshKey();
        await rateLimit(key, minute(2));
        await end(redis);
        await Promise.all(Array.from({ length: 60 }, () => rateLimit(freshKey(), minute(2))));
        // This process alone counts them, exactly.
        const decisions = [];
        for (let n = 0; n < 12; n += 1) decisions.push(await rateLimit(key, minute(2)));
        expect(decisions.filter((decision) => (decision as { allowed: boolean }).allowed)).toHaveLength(2);
        for (const scope of ["auth-sign-in", "auth-sign-up", "auth-password", "billing"]) {
          await expect(rateLimit(freshKey(scope), minute(2))).rejects.toBeInstanceOf(LimiterUnavailable);
        }
        // The breaker is open: a thousand calls in turn would else wait for a timeout each.
        for (let n = 0; n < 1_000; n += 1) await rateLimit(freshKey(), minute(2));
        // At the first failure, and when the breaker opened.
        expect(observations).toMatchObject({ up: [true, false], warned: 2, informed: 0 });
        expect(observations.without).toContain("billing unavailable");

        await restore(redis);
        await eventually(
          () =>
            rateLimit(freshKey("billing"), minute(2)).then(
              ({ allowed }) => allowed,
              () => false,
            ),
          true,
        );
        expect(observations).toMatchObject({ up: [true, false, true], warned: 2, informed: 1 });
        const before = await redis.calls("evalsha");
        await rateLimit(freshKey(), minute(2));
        expect((await redis.calls("evalsha")) - before).toBe(1);
        await close();
      },
    );

    it("still applies cached refusals", async () => {
      const { rateLimit, close } = await connected(redis.url);
      const key = freshKey("billing");
      await rateLimit(key, minute(1));
      const refused = await rateLimit(key, minute(1));
      await redis.kill();
      expect(await rateLimit(key, minute(1))).toEqual(refused);
      await close();
      await redis.restart();
    });

    it("starts and closes without Redis within seconds, and connects when it comes up", async () => {
      await redis.kill();
      const { rateLimit, close, observations } = await observed(redis.url);
      expect(observations).toMatchObject({ up: [false], warned: 1 });
      expect(await rateLimit(freshKey(), minute(1))).toMatchObject({ allowed: true });
      await redis.restart();
      await eventually(
        () =>
          rateLimit(freshKey("billing"), minute(1)).then(
            ({ allowed }) => allowed,
            () => false,
          ),
        true,
      );
      await close();

      await redis.kill();
      const otherProcess = await observed(redis.url);
      await otherProcess.close();
      await redis.restart();
    });
  });
});
