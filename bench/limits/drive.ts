import type { Limiter } from "./contender.ts";
import { CONTENDERS, type ContenderName } from "./contenders.ts";

/** A run of keys to ask for, from one index up to another. */
export type Slice = { keys: readonly string[]; from: number; to: number };

export type Driven = { calls: number; admitted: number; ms: number };

/** On Redis, so many questions are under way at a time; in memory there is no waiting, so there is one. */
const IN_FLIGHT = 64;

/** Between two looks at the clock: long for what takes nanoseconds, short for what takes a round trip. */
const SLICE = { memory: 500, redis: 25 };

export function sliceOf(contender: ContenderName): number {
  return SLICE[CONTENDERS[contender].store];
}

export function lanesOf(contender: ContenderName): number {
  return CONTENDERS[contender].store === "memory" ? 1 : IN_FLIGHT;
}

/** Asks for slice after slice until it is told that it was the last. */
export async function drive(limiter: Limiter, lanes: number, next: () => Slice | null): Promise<Driven> {
  const driven: Driven = { calls: 0, admitted: 0, ms: 0 };
  const lane = async () => {
    for (let slice = next(); slice; slice = next()) {
      const admitted = await limiter.admit(slice.keys, slice.from, slice.to);
      driven.admitted += admitted;
      driven.calls += slice.to - slice.from;
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: lanes }, lane));
  driven.ms = performance.now() - startedAt;
  return driven;
}

export function until(deadline: number, next: () => Slice): () => Slice | null {
  return () => (performance.now() < deadline ? next() : null);
}

/** Round and round through the keys. */
export function roundAndRound(keys: readonly string[], slice: number): () => Slice {
  let from = 0;
  return () => {
    const span = { keys, from, to: Math.min(from + slice, keys.length) };
    from = span.to === keys.length ? 0 : span.to;
    return span;
  };
}

/** From the first key to the last, so many times. */
export function through(keys: readonly string[], slice: number, times = 1): () => Slice | null {
  const next = roundAndRound(keys, slice);
  let passesLeft = times;
  return () => {
    if (passesLeft === 0) return null;
    const slice = next();
    if (slice.to === keys.length) passesLeft -= 1;
    return slice;
  };
}
