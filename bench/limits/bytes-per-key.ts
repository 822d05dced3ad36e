import { setTimeout as sleep } from "node:timers/promises";
import { BrokenMeasurement } from "../shared/broken.ts";
import type { Limiter } from "./contender.ts";
import { CONTENDERS } from "./contenders.ts";
import { drive, lanesOf, sliceOf, through } from "./drive.ts";
import { freshKeys, KEYS } from "./keys.ts";
import { openLimiter } from "./open-limiter.ts";
import { withRedis } from "./redis-server.ts";
import type { Turn } from "./turn.ts";

export type BytesPerKey = { bytes: number; keys: number };

type Hits = { limiter: Limiter; contender: Turn["contender"]; from: number; to: number };

const HITS = 10;
const LIMIT = 30;
const WINDOW_SECONDS = 600;
/** Whatever comes with these, code and tables, is not the others' to pay for. */
const FIRST = 1_000;

/** What a key costs after ten hits: in this process, or in Redis. */
export async function bytesPerKey(turn: Turn): Promise<BytesPerKey> {
  const { contender, redis } = turn;
  const { store } = CONTENDERS[contender];
  const keys = KEYS[store];
  const limiter = await openLimiter(turn, { limit: LIMIT, windowSeconds: WINDOW_SECONDS });
  const hitAll = (from: number, to: number) => hitTenTimes({ limiter, contender, from, to });
  await hitAll(0, FIRST);
  const used = store === "memory" ? usedHere : () => usedByRedis(redis.port);
  const before = await used();
  await hitAll(FIRST, keys);
  const bytes = ((await used()) - before) / (keys - FIRST);
  await limiter.close();
  return { bytes, keys };
}

async function hitTenTimes({ limiter, contender, from, to }: Hits): Promise<void> {
  const { keyPrefix } = CONTENDERS[contender];
  // Keys are made anew each time, and let go: who keeps one pays for it.
  for (let first = from; limiter.fill && first < to; first += FIRST) {
    await limiter.fill(freshKeys(keyPrefix, first, FIRST), HITS);
  }
  for (let hits = 0; !limiter.fill && hits < HITS; hits += 1) {
    for (let first = from; first < to; first += FIRST) {
      const next = through(freshKeys(keyPrefix, first, FIRST), sliceOf(contender));
      const driven = await drive(limiter, lanesOf(contender), next);
      if (driven.admitted !== driven.calls) throw new BrokenMeasurement("a hit was refused");
    }
  }
}

async function usedHere(): Promise<number> {
  // Timers and finalizers that have been let go are collected a turn later.
  for (let collected = 0; collected < 3; collected += 1) {
    globalThis.gc?.();
    await sleep(10);
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function usedByRedis(port: number): Promise<number> {
  return withRedis(port, async (ask) => Number(/used_memory:(\d+)/.exec(await ask("INFO", "memory"))?.[1]));
}
