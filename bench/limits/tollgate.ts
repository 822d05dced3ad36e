import { createLimits } from "../../src/limits/create-limits.ts";
import type { LimiterLog, LimiterMetrics } from "../../src/limits/limiter.ts";
import { memoryRateLimit } from "../../src/limits/memory-rate-limit.ts";
import { DEFAULT_POLICIES } from "../../src/limits/policies.ts";
import type { ClosableRateLimit } from "../../src/limits/rate-limit-of.ts";
import { redisRateLimit } from "../../src/limits/redis-rate-limit.ts";
import { BrokenMeasurement } from "../shared/broken.ts";
import type { Limiter, Settings } from "./contender.ts";

/** The function of the contract, with counts in memory. */
export async function openMemory(settings: Settings): Promise<Limiter> {
  return asked(memoryRateLimit({ log, metrics, ...clockOf(settings) }), settings);
}

/** The same in Redis, which is waited for as long as the others wait. */
export async function openRedis(settings: Settings): Promise<Limiter> {
  const redisUrls = [`redis://127.0.0.1:${settings.redisPort}`];
  return asked(await redisRateLimit({ redisUrls, log, metrics, answerWithinMs: 5_000 }), settings);
}

/** Counts in memory, charged as the gate charges: no promise for what is known at once. */
export async function openCharge(settings: Settings): Promise<Limiter> {
  const { limit, windowSeconds } = settings;
  const policies = { ...DEFAULT_POLICIES, api: { limit, windowSeconds } };
  const limits = await createLimits({ policies, redisUrls: null, log, metrics, ...clockOf(settings) });
  return {
    admit: async (ids, from, to) => {
      let admitted = 0;
      for (let index = from; index < to; index += 1) {
        let decision = limits.charge("api", ids[index] as string);
        if (decision instanceof Promise) decision = await decision;
        if (decision.allowed) admitted += 1;
      }
      return admitted;
    },
    ask: async (id) => limits.charge("api", id),
    close: () => limits.close(),
  };
}

function asked({ rateLimit, close }: ClosableRateLimit, { limit, windowSeconds }: Settings): Limiter {
  const options = { limit, windowSeconds };
  return {
    admit: async (keys, from, to) => {
      let admitted = 0;
      for (let index = from; index < to; index += 1) {
        const { allowed } = await rateLimit(keys[index] as string, options);
        if (allowed) admitted += 1;
      }
      return admitted;
    },
    ask: (key) => rateLimit(key, options),
    close,
  };
}

const log: LimiterLog = { info: () => {}, warn: () => {} };

const metrics: LimiterMetrics = {
  sharedStore: () => {},
  decidedWithoutStore: (_, how) => {
    if (how !== "remembered") throw new BrokenMeasurement("Redis did not answer");
  },
  memoryFull: () => {
    throw new BrokenMeasurement("a key was forgotten");
  },
};

function clockOf({ now }: Settings): { now?: () => number } {
  return now ? { now } : {};
}
