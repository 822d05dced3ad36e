import { checkKey } from "./check-request.ts";
import { steadyNow } from "./clock.ts";
import type { Limiter, LimiterLog, LimiterMetrics } from "./limiter.ts";
import { Blocks } from "./memory-blocks.ts";
import { MemoryWindow } from "./memory-window.ts";
import type { RateLimitResult } from "./rate-limit.ts";

export type MemoryOptions = {
  log: LimiterLog;
  metrics: LimiterMetrics;
  /** Milliseconds on a clock that never goes back. */
  now?: () => number;
  /** How many keys are counted at a time, 100,000 by default. */
  maxMemoryKeys?: number;
};

const MAX_KEYS = 100_000;
const LOG_AT_MOST_EVERY_MS = 60_000;

/**
 * Counts in this process, exactly. Every decision removes at most a few expired keys: there is no timer and
 * no sweep, however many keys there are.
 *
 * When it is full of live keys, a new key replaces the one that has requests left and would expire next: that
 * one starts again from zero. A blocked key is never forgotten: when all are blocked, new keys are refused.
 */
export class MemoryLimiter implements Limiter {
  readonly #options: MemoryOptions;
  readonly #now: () => number;
  readonly #maxKeys: number;
  readonly #blocks = new Blocks();
  readonly #windows = new Map<number, MemoryWindow>();
  readonly #windowList: MemoryWindow[] = [];
  /** Usually the window of the next decision too. */
  #lastWindow = new MemoryWindow(0, this.#blocks);
  #lastCleaned = 0;
  #loggedAt = Number.NEGATIVE_INFINITY;
  #unlogged = { forgotten: 0, refused: 0 };

  constructor(options: MemoryOptions) {
    this.#options = options;
    this.#now = options.now ?? steadyNow;
    this.#maxKeys = options.maxMemoryKeys ?? MAX_KEYS;
  }

  decide(key: string, limit: number, windowMs: number, cost: number): RateLimitResult {
    const now = this.#now();
    const window = windowMs === this.#lastWindow.windowMs ? this.#lastWindow : this.#windowOf(windowMs);
    const index = window.find(key);
    if (index !== undefined) return window.decide(index, limit, cost, now);
    checkKey(key);
    this.#removeExpired(window, now);
    if (this.keyCount >= this.#maxKeys && !this.#forgetOne(window, now)) {
      return { allowed: false, remaining: 0, resetAt: Math.ceil(this.#nextUnblockedAt(now)) };
    }
    return window.decide(window.add(key), limit, cost, now);
  }

  get keyCount(): number {
    let count = 0;
    for (const window of this.#windowList) count += window.size;
    return count;
  }

  /** How many other keys decisions have visited: their cost besides their own key. */
  get visits(): number {
    let visits = 0;
    for (const window of this.#windowList) visits += window.visits;
    return visits;
  }

  async close(): Promise<void> {}

  #windowOf(windowMs: number): MemoryWindow {
    let window = this.#windows.get(windowMs);
    if (!window) {
      window = new MemoryWindow(windowMs, this.#blocks);
      this.#windows.set(windowMs, window);
      this.#windowList.push(window);
    }
    this.#lastWindow = window;
    return window;
  }

  /**
   * Each call removes more expired keys than it can add; one window a call in turn, so that unused ones empty
   * too.
   */
  #removeExpired(window: MemoryWindow, now: number): void {
    window.removeExpired(now);
    this.#lastCleaned = (this.#lastCleaned + 1) % this.#windowList.length;
    this.#windowList[this.#lastCleaned]?.removeExpired(now);
  }

  #forgetOne(first: MemoryWindow, now: number): boolean {
    const windows = [first, ...this.#windowList.filter((window) => window !== first)];
    if (windows.some((window) => window.removeExpired(now))) return true;
    const forgotten = windows.some((window) => window.forgetOpen(now));
    this.#report(forgotten ? "forgotten" : "refused", now);
    return forgotten;
  }

  #nextUnblockedAt(now: number): number {
    return Math.min(...this.#windowList.map((window) => window.nextUnblockedAt(now)));
  }

  #report(outcome: "forgotten" | "refused", now: number): void {
    this.#options.metrics.memoryFull(outcome);
    this.#unlogged[outcome] += 1;
    if (now - this.#loggedAt < LOG_AT_MOST_EVERY_MS) return;
    this.#options.log.warn(
      { keys: this.#maxKeys, ...this.#unlogged },
      "the limiter's memory is full: keys with requests left are forgotten for new ones, blocked ones are kept",
    );
    this.#loggedAt = now;
    this.#unlogged = { forgotten: 0, refused: 0 };
  }
}
