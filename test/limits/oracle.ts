import type { RateLimitResult } from "../../src/limits/rate-limit.ts";

/** One request, `after` milliseconds after the one before it. */
type Step = { after: number; key: string; limit: number; windowSeconds: number; cost: number };

/** The limiter in its simplest form: keeps every admitted request, and scans them all for each decision. */
export function oracle() {
  const admitted = new Map<string, number[]>();
  return (now: number, { key, limit, windowSeconds, cost }: Omit<Step, "after">): RateLimitResult => {
    const windowMs = windowSeconds * 1000;
    const all = admitted.get(`${windowMs} ${key}`) ?? [];
    const counted = all.filter((time) => time + windowMs > now);
    if (counted.length + cost > limit) {
      const waitsFor = counted[counted.length + cost - limit - 1] as number;
      return { allowed: false, remaining: Math.max(0, limit - counted.length), resetAt: waitsFor + windowMs };
    }
    admitted.set(`${windowMs} ${key}`, [...all, ...Array.from({ length: cost }, () => now)]);
    const oldest = counted[0] ?? now;
    return { allowed: true, remaining: limit - counted.length - cost, resetAt: oldest + windowMs };
  };
}

/** The most that was admitted in any window of this length, wherever it starts. */
export function mostInAnyWindow(admittedAt: readonly number[], windowMs: number): number {
  return Math.max(
    0,
    ...admittedAt.map((start) => admittedAt.filter((at) => at >= start && at < start + windowMs).length),
  );
}
