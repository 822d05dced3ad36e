import fc from "fast-check";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { type LimiterLog, type LimiterMetrics, NO_METRICS } from "../../src/limits/limiter.ts";
import { Blocks } from "../../src/limits/memory-blocks.ts";
import { MemoryLimiter } from "../../src/limits/memory-limiter.ts";
import { MemoryWindow } from "../../src/limits/memory-window.ts";
import { createLog } from "../../src/observability/log.ts";
import { oracle } from "./oracle.ts";

const WINDOW_MS = 60_000;
let now: number;

function limiter(
  maxKeys: number,
  log: LimiterLog = createLog("silent"),
  metrics: LimiterMetrics = NO_METRICS,
): MemoryLimiter {
  return new MemoryLimiter({ log, metrics, now: () => now, maxMemoryKeys: maxKeys });
}

describe("MemoryLimiter", () => {
  beforeEach(() => {
    now = 1_800_000_000_000;
  });

  it("is exact to fractions of a millisecond, and rounds resetAt up", () => {
    const counts = limiter(10);
    now += 0.4;
    const start = now;
    const resetAt = Math.ceil(start + 1_000);
    expect(counts.decide("api:a", 1, 1_000, 1)).toEqual({ allowed: true, remaining: 0, resetAt });
    now = start + 999.9;
    expect(counts.decide("api:a", 1, 1_000, 1)).toEqual({ allowed: false, remaining: 0, resetAt });
    now = start + 1_000;
    expect(counts.decide("api:a", 1, 1_000, 1).allowed).toBe(true);
  });

  it("removes expired keys as new ones are added", () => {
    const counts = limiter(100_000);
    for (let n = 0; n < 1_000; n += 1) counts.decide(`api:${n}`, 5, WINDOW_MS, 1);
    now += WINDOW_MS;
    for (let n = 0; n < 1_000; n += 1) counts.decide(`api:later ${n}`, 5, WINDOW_MS, 1);
    expect(counts.keyCount).toBe(1_000);
  });

  it("removes expired keys of windows that are no longer used", () => {
    const counts = limiter(100_000);
    for (let n = 0; n < 1_000; n += 1) {
      counts.decide(`api:${n}`, 5, 1_000, 1);
      counts.decide(`api:${n}`, 5, 2_000, 1);
    }
    now += WINDOW_MS;
    for (let n = 0; n < 3_000; n += 1) counts.decide(`api:later ${n}`, 5, WINDOW_MS, 1);
    expect(counts.keyCount).toBe(3_000);
  });

  it("visits at most a few other keys per decision, however many have expired", () => {
    const counts = limiter(20_000);
    let most = 0;
    const countVisits = (key: string, limit: number) => {
      const before = counts.visits;
      counts.decide(key, limit, WINDOW_MS, 1);
      most = Math.max(most, counts.visits - before);
    };
    for (let n = 0; n < 30_000; n += 1) countVisits(`api:${n}`, 1 + (n % 2));
    now += WINDOW_MS;
    for (let n = 0; n < 30_000; n += 1) countVisits(`api:later ${n}`, 1);
    expect(counts.keyCount).toBeLessThanOrEqual(20_000);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(32);
  });

  it("uses the memory of removed keys again", () => {
    const blocks = new Blocks();
    const window = new MemoryWindow(1_000, blocks);
    const indexes = new Set<number>();
    for (let n = 0; n < 100; n += 1) {
      const index = window.add(`api:${n}`);
      indexes.add(index);
      expect(window.decide(index, 10, 9, n * 1_000).allowed).toBe(true);
      expect(window.removeExpired((n + 1) * 1_000)).toBe(true);
    }
    expect(indexes.size).toBe(1);
    // Nine times are two blocks of four and one of a third, which must not be left behind.
    const taken = Array.from({ length: 3 }, () => blocks.take());
    expect(taken.sort((a, b) => a - b)).toEqual([0, 4, 8]);
  });

  it("keeps the times of thousands of keys apart", () => {
    const counts = limiter(20_000);
    const start = now;
    for (let n = 0; n < 10_000; n += 1) {
      now = start + n;
      // More than fit one block.
      counts.decide(`api:${n}`, 5, WINDOW_MS, 5);
    }
    const resets = Array.from(
      { length: 10_000 },
      (_, n) => counts.decide(`api:${n}`, 5, WINDOW_MS, 5).resetAt - start - WINDOW_MS,
    );
    expect(resets.filter((resetAt, n) => resetAt !== n)).toEqual([]);
  });

  describe("when it is full of live keys", () => {
    it("never exceeds its maximum size and never evicts a blocked key", () => {
      const counts = limiter(100);
      for (let n = 0; n < 50; n += 1) counts.decide(`api:blocked ${n}`, 1, WINDOW_MS, 1);
      for (let n = 0; n < 10_000; n += 1) {
        expect(counts.decide(`api:${n}`, 2, WINDOW_MS, 1).allowed).toBe(true);
        expect(counts.keyCount).toBeLessThanOrEqual(100);
      }
      for (let n = 0; n < 50; n += 1) {
        expect(counts.decide(`api:blocked ${n}`, 1, WINDOW_MS, 1).allowed).toBe(false);
      }
    });

    it("keeps a key that is blocked for its last request's cost", () => {
      const counts = limiter(2);
      counts.decide("api:a", 5, WINDOW_MS, 3);
      counts.decide("api:a", 5, WINDOW_MS, 3);
      for (let n = 0; n < 10; n += 1) counts.decide(`api:${n}`, 5, WINDOW_MS, 1);
      expect(counts.decide("api:a", 5, WINDOW_MS, 3).allowed).toBe(false);
    });

    it("drops the unblocked key that would expire next", () => {
      const counts = limiter(3);
      for (const key of ["api:a", "api:b", "api:c", "api:a"]) {
        now += 1;
        counts.decide(key, 5, WINDOW_MS, 1);
      }
      counts.decide("api:d", 5, WINDOW_MS, 1);
      expect(counts.decide("api:a", 5, WINDOW_MS, 1).remaining).toBe(2);
      expect(counts.decide("api:c", 5, WINDOW_MS, 1).remaining).toBe(3);
      expect(counts.decide("api:b", 5, WINDOW_MS, 1).remaining).toBe(4);
    });

    it("drops one key, of the same window where it can", () => {
      const counts = limiter(2);
      counts.decide("api:a", 5, WINDOW_MS, 1);
      counts.decide("api:b", 5, 10_000, 1);
      counts.decide("api:c", 5, WINDOW_MS, 1);
      expect(counts.decide("api:b", 5, 10_000, 1).remaining).toBe(3);
      expect(counts.decide("api:c", 5, WINDOW_MS, 1).remaining).toBe(3);
      // It takes the place of "api:c", and begins again.
      expect(counts.decide("api:a", 5, WINDOW_MS, 1).remaining).toBe(4);
    });

    it("drops no live key while one of another window has expired", () => {
      const counts = limiter(2);
      counts.decide("api:a", 5, WINDOW_MS, 1);
      counts.decide("api:b", 5, 1_000, 1);
      now += 1_000;
      expect(counts.decide("api:c", 5, WINDOW_MS, 1).allowed).toBe(true);
      expect(counts.decide("api:a", 5, WINDOW_MS, 1).remaining).toBe(3);
      expect(counts.keyCount).toBe(2);
    });

    it("drops no live key while one of a third window has expired", () => {
      const counts = limiter(3);
      counts.decide("api:a", 5, WINDOW_MS, 1);
      counts.decide("api:b", 5, 1_000, 1);
      counts.decide("api:c", 5, 2_000, 1);
      now += 1_000;
      expect(counts.decide("api:d", 5, WINDOW_MS, 1).allowed).toBe(true);
      expect(counts.decide("api:a", 5, WINDOW_MS, 1).remaining).toBe(3);
      expect(counts.keyCount).toBe(3);
    });

    it("refuses new keys while those of all windows are blocked, until the first one is free", () => {
      const counts = limiter(2);
      counts.decide("api:a", 1, WINDOW_MS, 1);
      counts.decide("api:b", 1, 10_000, 1);
      const resetAt = now + 10_000;
      expect(counts.decide("api:c", 1, WINDOW_MS, 1)).toEqual({ allowed: false, remaining: 0, resetAt });
      now = resetAt;
      expect(counts.decide("api:c", 1, WINDOW_MS, 1).allowed).toBe(true);
      expect(counts.decide("api:a", 1, WINDOW_MS, 1).allowed).toBe(false);
    });

    it("counts which keys are forgotten and which are refused", () => {
      const full: string[] = [];
      const counts = limiter(1, undefined, { ...NO_METRICS, memoryFull: (outcome) => full.push(outcome) });
      counts.decide("api:a", 2, WINDOW_MS, 1);
      expect(full).toEqual([]);
      counts.decide("api:b", 1, WINDOW_MS, 1);
      counts.decide("api:c", 1, WINDOW_MS, 1);
      expect(full).toEqual(["forgotten", "refused"]);
    });

    it("refuses new keys while all are blocked, and admits them at resetAt", () => {
      const counts = limiter(3);
      for (const key of ["api:a", "api:b", "api:c"]) {
        counts.decide(key, 1, WINDOW_MS, 1);
        now += 1_000;
      }
      const refused = counts.decide("api:d", 1, WINDOW_MS, 1);
      expect(refused).toEqual({ allowed: false, remaining: 0, resetAt: 1_800_000_060_000 });
      now = refused.resetAt - 1;
      expect(counts.decide("api:d", 1, WINDOW_MS, 1).allowed).toBe(false);
      now = refused.resetAt;
      expect(counts.decide("api:d", 1, WINDOW_MS, 1).allowed).toBe(true);
      expect(counts.decide("api:b", 1, WINDOW_MS, 1).allowed).toBe(false);
    });

    it("drops a blocked key as soon as it has a request left again", () => {
      const counts = limiter(1);
      counts.decide("api:a", 2, WINDOW_MS, 1);
      now += 30_000;
      counts.decide("api:a", 2, WINDOW_MS, 1);
      expect(counts.decide("api:b", 2, WINDOW_MS, 1).allowed).toBe(false);
      now += 30_000;
      expect(counts.decide("api:b", 2, WINDOW_MS, 1).allowed).toBe(true);
      expect(counts.keyCount).toBe(1);
    });

    it("drops a key that was blocked for a larger cost as soon as that is admitted again", () => {
      const counts = limiter(1);
      const resetAt = now + WINDOW_MS;
      counts.decide("rpc:blocked", 10, WINDOW_MS, 1);
      now += 1_000;
      counts.decide("rpc:blocked", 10, WINDOW_MS, 7);
      now += 1_000;
      const refused = { allowed: false, remaining: 2, resetAt };
      expect(counts.decide("rpc:blocked", 10, WINDOW_MS, 3)).toEqual(refused);
      expect(counts.decide("rpc:new", 10, WINDOW_MS, 1)).toEqual({ ...refused, remaining: 0 });
      now = resetAt;
      expect(counts.decide("rpc:new", 10, WINDOW_MS, 1).allowed).toBe(true);
    });

    it("drops a blocked key that is free again although one that is unused for longer is not", () => {
      const counts = limiter(2);
      counts.decide("api:b", 2, WINDOW_MS, 1);
      now += 10_000;
      counts.decide("api:a", 1, WINDOW_MS, 1);
      now += 10_000;
      counts.decide("api:b", 2, WINDOW_MS, 1);
      const refused = counts.decide("api:c", 2, WINDOW_MS, 1);
      expect(refused).toMatchObject({ allowed: false, resetAt: now + 40_000 });
      now += 40_000;
      expect(counts.decide("api:c", 2, WINDOW_MS, 1).allowed).toBe(true);
      expect(counts.decide("api:a", 1, WINDOW_MS, 1).allowed).toBe(false);
    });

    it("logs a warning once a minute", () => {
      const warn = vi.fn();
      const counts = limiter(10, { info: () => {}, warn });
      for (let n = 0; n < 1_000; n += 1) counts.decide(`api:${n}`, 2, WINDOW_MS, 1);
      expect(warn).toHaveBeenCalledTimes(1);
      expect(warn.mock.lastCall?.[0]).toEqual({ keys: 10, forgotten: 1, refused: 0 });
      now += 59_999;
      counts.decide("api:more", 2, WINDOW_MS, 1);
      expect(warn).toHaveBeenCalledTimes(1);
      now += 1;
      for (let n = 0; n < 1_000; n += 1) counts.decide(`api:again ${n}`, 2, WINDOW_MS, 1);
      expect(warn).toHaveBeenCalledTimes(2);
      // The 989 since the first warning, the one before the minute was over, and this one.
      expect(warn.mock.lastCall?.[0]).toEqual({ keys: 10, forgotten: 991, refused: 0 });
    });
  });

  it("makes the same decisions as the oracle as keys come and go", () => {
    const step = fc.record({
      after: fc.integer({ min: 0, max: 800 }),
      key: fc.integer({ min: 0, max: 30 }),
      limit: fc.integer({ min: 1, max: 40 }),
      windowMs: fc.constantFrom(1_000, 5_000, 60_000),
      cost: fc.integer({ min: 1, max: 9 }),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 100, maxLength: 600, size: "max" }), (steps) => {
        const counts = limiter(10_000);
        const expected = oracle();
        for (const { after, key, limit, windowMs, cost } of steps) {
          now += after;
          const request = { key: `api:${key}`, limit, cost: Math.min(cost, limit) };
          expect(counts.decide(request.key, limit, windowMs, request.cost)).toEqual(
            expected(now, { ...request, windowSeconds: windowMs / 1000 }),
          );
        }
      }),
      { numRuns: 200 },
    );
  });
});
