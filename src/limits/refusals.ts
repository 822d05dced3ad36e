import type { Decision } from "./rate-limit.ts";

/** What a refusal tells of a key: how many requests counted, and when those leave that must. */
type Refusal = {
  windowMs: number;
  limit: number;
  counted: number;
  /** On our clock, from the moment of asking: no later than they really leave, so that nobody is refused for nothing. */
  leaveAt: number[];
  /** The same from the moment of the answer: no earlier than they really leave. */
  resetAt: number[];
  /** Of the same key under another limit. */
  next: Refusal | null;
};

const KEYS = 10_000;

/**
 * Refusals that still hold. They count nothing, so nothing that is asked while they hold can be admitted: the shared
 * store need not be asked. Answers only what it knows exactly: a larger cost waits for requests that it may not know.
 * Bounded by forgetting, which costs one question more.
 */
export class Refusals {
  readonly #keys: number;
  #young = new Map<string, Refusal>();
  #old = new Map<string, Refusal>();

  constructor(keys = KEYS) {
    this.#keys = keys;
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  find(key: string, windowMs: number, limit: number, cost: number, now: () => number): Decision | undefined {
    if (this.#young.size === 0 && this.#old.size === 0) return undefined;
    let known: Refusal | null | undefined = this.#young.get(key) ?? this.#old.get(key);
    while (known && (known.windowMs !== windowMs || known.limit !== limit)) known = known.next;
    return known ? decisionOf(known, cost, now()) : undefined;
  }

  /** @param leftUs microseconds until each request leaves that must, the soonest first */
  remember(
    key: string,
    of: { windowMs: number; limit: number; counted: number; leftUs: readonly number[] },
    askedAt: number,
    answeredAt: number,
  ): void {
    const { windowMs, limit, counted, leftUs } = of;
    const others = without(this.#young.get(key) ?? this.#old.get(key) ?? null, windowMs, limit);
    if (this.#young.size >= this.#keys / 2) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, {
      windowMs,
      limit,
      counted,
      leaveAt: leftUs.map((us) => askedAt + us / 1000),
      resetAt: leftUs.map((us) => Math.ceil(answeredAt + us / 1000)),
      next: others,
    });
  }

  /** Something was admitted: what is known of the key is no longer all. */
  forget(key: string): void {
    if (this.#young.size > 0) this.#young.delete(key);
    if (this.#old.size > 0) this.#old.delete(key);
  }
}

function decisionOf(known: Refusal, cost: number, now: number): Decision | undefined {
  const { leaveAt } = known;
  let left = 0;
  while (left < leaveAt.length && (leaveAt[left] as number) <= now) left += 1;
  const counted = known.counted - left;
  const over = counted + cost - known.limit;
  const resetAt = over > 0 ? known.resetAt[left + over - 1] : undefined;
  if (resetAt === undefined) return undefined;
  return { allowed: false, remaining: counted < known.limit ? known.limit - counted : 0, resetAt };
}

function without(known: Refusal | null, windowMs: number, limit: number): Refusal | null {
  if (!known) return null;
  if (known.windowMs === windowMs && known.limit === limit) return known.next;
  return { ...known, next: without(known.next, windowMs, limit) };
}
