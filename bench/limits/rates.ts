import { createRng } from "../../src/simulator/scenario/rng.ts";
import { BrokenMeasurement } from "../shared/broken.ts";
import { processStat } from "../shared/cpu.ts";
import type { Limiter } from "./contender.ts";
import { CONTENDERS } from "./contenders.ts";
import { type Driven, drive, lanesOf, roundAndRound, type Slice, sliceOf, through, until } from "./drive.ts";
import { freshKeys } from "./keys.ts";
import { openLimiter } from "./open-limiter.ts";
import type { Turn } from "./turn.ts";

export type Rate = {
  calls: number;
  callsPerSecond: number;
  /** User and system time of the limiter's own process. */
  cpuMicrosPerCall: number;
  /** The same of Redis; `null` in memory, or without /proc. */
  redisMicrosPerCall: number | null;
};

type Consumed = Driven & { cpuMicros: number; redisMicros: number | null };

/** So long that hardly ever a window by the clock ends while it is measured. */
const WINDOW_SECONDS = 3_600;
const WARM_UP_MS = 300;
const MANY = 100_000;

/** As high as there is: when so many have passed, it is the next key's turn to be hot. */
const HOT_LIMIT = 1_000_000;
const HITS = 10;
/** On Redis, more than there are hits in a round. */
const MANY_LIMIT = { memory: 30, redis: 100 };
const DENIED_LIMIT = 30;

export async function hotRate(turn: Turn): Promise<Rate> {
  const prefix = CONTENDERS[turn.contender].keyPrefix;
  const length = sliceOf(turn.contender);
  let sent = HOT_LIMIT;
  let number = 0;
  let keys: string[] = [];
  const next = (): Slice => {
    if (sent + length > HOT_LIMIT) {
      const [key] = freshKeys(prefix, number, 1) as [string];
      keys = Array.from({ length }, () => key);
      number += 1;
      sent = 0;
    }
    sent += length;
    return { keys, from: 0, to: length };
  };
  return measured(turn, HOT_LIMIT, async (limiter) => {
    await warmUp(limiter, turn, next);
    return all(await forSeconds(limiter, turn, next));
  });
}

/**
 * In memory every key is asked for ten times, from the first on, which has to make it; only where that would
 * take minutes, and on Redis, the keys are there before, and it is measured for so many seconds.
 */
export async function manyKeysRate(turn: Turn): Promise<Rate> {
  const { store, keyPrefix } = CONTENDERS[turn.contender];
  const keys = createRng(1).shuffled(freshKeys(keyPrefix, 0, MANY));
  const slice = sliceOf(turn.contender);
  return measured(turn, MANY_LIMIT[store], async (limiter) => {
    if (store === "memory" && !limiter.fill) {
      const others = freshKeys(keyPrefix, MANY, MANY);
      await warmUpAside(turn, through(others, slice, 2));
      globalThis.gc?.();
      return all(await consumed(limiter, turn, through(keys, slice, HITS)));
    }
    if (limiter.fill) await limiter.fill(keys, 1);
    else all(await drive(limiter, lanesOf(turn.contender), through(keys, slice)));
    const next = roundAndRound(keys, slice);
    await warmUp(limiter, turn, next);
    return all(await forSeconds(limiter, turn, next));
  });
}

export async function deniedRate(turn: Turn): Promise<Rate> {
  const [key] = freshKeys(CONTENDERS[turn.contender].keyPrefix, 0, 1) as [string];
  const keys = Array.from({ length: 500 }, () => key);
  const next = roundAndRound(keys, sliceOf(turn.contender));
  return measured(turn, DENIED_LIMIT, async (limiter) => {
    const admitted = await limiter.admit(keys, 0, 2 * DENIED_LIMIT);
    if (admitted !== DENIED_LIMIT) throw new BrokenMeasurement(`${admitted} of ${DENIED_LIMIT} passed`);
    none(await warmUp(limiter, turn, next));
    return none(await forSeconds(limiter, turn, next));
  });
}

async function measured(
  turn: Turn,
  limit: number,
  run: (limiter: Limiter) => Promise<Consumed>,
): Promise<Rate> {
  const limiter = await openLimiter(turn, { limit, windowSeconds: WINDOW_SECONDS });
  const { calls, ms, cpuMicros, redisMicros } = await run(limiter);
  await limiter.close();
  return {
    calls,
    callsPerSecond: (calls / ms) * 1_000,
    cpuMicrosPerCall: cpuMicros / calls,
    redisMicrosPerCall: redisMicros === null ? null : redisMicros / calls,
  };
}

/** On a limiter of its own. */
async function warmUpAside(turn: Turn, next: () => Slice | null): Promise<void> {
  const limiter = await openLimiter(turn, { limit: MANY_LIMIT.memory, windowSeconds: WINDOW_SECONDS });
  await drive(limiter, lanesOf(turn.contender), next);
  await limiter.close();
}

function warmUp(limiter: Limiter, { contender }: Turn, next: () => Slice): Promise<Driven> {
  return drive(limiter, lanesOf(contender), until(performance.now() + WARM_UP_MS, next));
}

function forSeconds(limiter: Limiter, turn: Turn, next: () => Slice): Promise<Consumed> {
  globalThis.gc?.();
  return consumed(limiter, turn, until(performance.now() + turn.seconds * 1_000, next));
}

async function consumed(limiter: Limiter, turn: Turn, next: () => Slice | null): Promise<Consumed> {
  const { contender, redis } = turn;
  const isOnRedis = CONTENDERS[contender].store === "redis";
  const redisMicros = () => (isOnRedis ? (processStat(redis.pid)?.ownMicros ?? null) : null);
  const before = process.cpuUsage();
  const redisBefore = redisMicros();
  const driven = await drive(limiter, lanesOf(contender), next);
  const redisAfter = redisMicros();
  const { user, system } = process.cpuUsage(before);
  return {
    ...driven,
    cpuMicros: user + system,
    redisMicros: redisBefore === null || redisAfter === null ? null : redisAfter - redisBefore,
  };
}

function all<D extends Driven>(driven: D): D {
  if (driven.admitted === driven.calls) return driven;
  throw new BrokenMeasurement(`of ${driven.calls} calls that may pass, ${driven.admitted} passed`);
}

function none<D extends Driven>(driven: D): D {
  if (driven.admitted === 0) return driven;
  throw new BrokenMeasurement(`of ${driven.calls} calls that may not pass, ${driven.admitted} passed`);
}
