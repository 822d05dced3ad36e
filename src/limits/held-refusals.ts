import type { RateLimitResult } from "./rate-limit.ts";

/**
 * What a refusal reveals about a key: how many requests are counted, and when enough of them leave the
 * window.
 */
type HeldRefusal = {
  windowMs: number;
  limit: number;
  counted: number;
  /**
   * On our clock, from the time of the call: no later than they really leave, so nobody is refused wrongly.
   */
  leaveAt: number[];
  /** The same from the time of the reply: no earlier than they really leave. */
  resetAt: number[];
  /** The same key under another limit. */
  next: HeldRefusal | null;
};

const MAX_KEYS = 10_000;

/**
 * Refusals that still hold. A refused request is not counted, so nothing can be admitted while they hold, and
 * the shared store need not be asked. Decides only what is known exactly: a larger cost may wait for requests
 * it does not know. Bounded by forgetting, which costs one more call.
 */
export class HeldRefusals {
  readonly #now: () => number;
  #young = new Map<string, HeldRefusal>();
  #old = new Map<string, HeldRefusal>();

  constructor(now: () => number) {
    this.#now = now;
  }

  find(key: string, limit: number, windowMs: number, cost: number): RateLimitResult | undefined {
    if (this.#young.size === 0 && this.#old.size === 0) return undefined;
    let refusal: HeldRefusal | null | undefined = this.#young.get(key) ?? this.#old.get(key);
    while (refusal && (refusal.limit !== limit || refusal.windowMs !== windowMs)) refusal = refusal.next;
    return refusal ? decisionOf(refusal, cost, this.#now()) : undefined;
  }

  /** @param of `leaveInUs`: microseconds until each request leaves that must, the soonest first */
  remember(
    key: string,
    of: { windowMs: number; limit: number; counted: number; leaveInUs: readonly number[] },
    askedAt: number,
    answeredAt: number,
  ): void {
    const { windowMs, limit, counted, leaveInUs } = of;
    const otherWindows = without(this.#young.get(key) ?? this.#old.get(key) ?? null, limit, windowMs);
    if (this.#young.size >= MAX_KEYS / 2) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, {
      windowMs,
      limit,
      counted,
      leaveAt: leaveInUs.map((us) => askedAt + us / 1000),
      resetAt: leaveInUs.map((us) => Math.ceil(answeredAt + us / 1000)),
      next: otherWindows,
    });
  }

  /** Something was admitted, so the refusal no longer describes the key. */
  forget(key: string): void {
    if (this.#young.size > 0) this.#young.delete(key);
    if (this.#old.size > 0) this.#old.delete(key);
  }
}

function decisionOf(refusal: HeldRefusal, cost: number, now: number): RateLimitResult | undefined {
  const { leaveAt } = refusal;
  let expired = 0;
  while (expired < leaveAt.length && (leaveAt[expired] as number) <= now) expired += 1;
  const counted = refusal.counted - expired;
  const over = counted + cost - refusal.limit;
  const resetAt = over > 0 ? refusal.resetAt[expired + over - 1] : undefined;
  if (resetAt === undefined) return undefined;
  return { allowed: false, remaining: counted < refusal.limit ? refusal.limit - counted : 0, resetAt };
}

function without(refusal: HeldRefusal | null, limit: number, windowMs: number): HeldRefusal | null {
  if (!refusal) return null;
  if (refusal.limit === limit && refusal.windowMs === windowMs) return refusal.next;
  return { ...refusal, next: without(refusal.next, limit, windowMs) };
}
