import { type ClosableRateLimit, createRateLimit } from "../../src/limits/create-rate-limit.ts";
import type { LimiterLog, LimiterMetrics } from "../../src/limits/limiter.ts";
import { BrokenMeasurement } from "../shared/broken.ts";
import type { Limiter, Settings } from "./contender.ts";

/**
 * `rateLimit` with counts in memory, called as the gate calls it: without `await` when there is no promise.
 */
export async function openMemory(settings: Settings): Promise<Limiter> {
  return limiterOver(
    await createRateLimit({ redisUrls: null, log, metrics, ...clockOf(settings) }),
    settings,
  );
}

/** The same with `await` at every call, as in the README. */
export async function openAwaited(settings: Settings): Promise<Limiter> {
  const { limit, windowSeconds } = settings;
  const { rateLimit, close } = await createRateLimit({
    redisUrls: null,
    log,
    metrics,
    ...clockOf(settings),
  });
  const options = { limit, windowSeconds };
  return {
    admit: async (keys, from, to) => {
      let admitted = 0;
      for (let index = from; index < to; index += 1) {
        if ((await rateLimit(keys[index] as string, options)).allowed) admitted += 1;
      }
      return admitted;
    },
    ask: async (key) => rateLimit(key, options),
    close,
  };
}

/** The same in Redis, which is waited for as long as the others wait. */
export async function openRedis(settings: Settings): Promise<Limiter> {
  const redisUrls = [`redis://127.0.0.1:${settings.redisPort}`];
  return limiterOver(await createRateLimit({ redisUrls, log, metrics, answerWithinMs: 5_000 }), settings);
}

function limiterOver({ rateLimit, close }: ClosableRateLimit, { limit, windowSeconds }: Settings): Limiter {
  const options = { limit, windowSeconds };
  return {
    admit: async (keys, from, to) => {
      let admitted = 0;
      for (let index = from; index < to; index += 1) {
        let decision = rateLimit(keys[index] as string, options);
        if (decision instanceof Promise) decision = await decision;
        if (decision.allowed) admitted += 1;
      }
      return admitted;
    },
    ask: async (key) => rateLimit(key, options),
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
