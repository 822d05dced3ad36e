import { checkKey } from "./check-request.ts";
import { steadyNow } from "./clock.ts";
import type { Limiter, LimiterLog, LimiterMetrics } from "./limiter.ts";
import { Blocks } from "./memory-blocks.ts";
import { MemoryWindow } from "./memory-window.ts";
import type { Decision } from "./rate-limit.ts";

export type MemoryOptions = {
  log: LimiterLog;
  metrics: LimiterMetrics;
  /** Milliseconds on a clock that only goes forwards. */
  now?: () => number;
  /** How many keys are counted at a time, 100,000 by default. */
  maxMemoryKeys?: number;
};

const MAX_KEYS = 100_000;
const SAY_AGAIN_AFTER_MS = 60_000;

/**
 * Counts in this process, exactly. Every decision tidies away at most a few keys that have run out: there is no timer and
 * no sweep, however many keys there are.
 *
 * When it is full of keys that still count, a new key takes the place of the one that has requests left and would be the
 * next to run out: that one starts afresh. A key that is blocked is never forgotten: when all are, new ones are refused.
 */
export class MemoryLimiter implements Limiter {
  readonly #options: MemoryOptions;
  readonly #now: () => number;
  readonly #maxKeys: number;
  readonly #blocks = new Blocks();
  readonly #windows = new Map<number, MemoryWindow>();
  readonly #windowList: MemoryWindow[] = [];
  /** Nearly always the next one too. */
  #lastWindow = new MemoryWindow(0, this.#blocks);
  #tidied = 0;
  #saidAt = Number.NEGATIVE_INFINITY;
  #unsaid = { forgotten: 0, refused: 0 };

  constructor(options: MemoryOptions) {
    this.#options = options;
    this.#now = options.now ?? steadyNow;
    this.#maxKeys = options.maxMemoryKeys ?? MAX_KEYS;
  }

  decide(key: string, limit: number, windowMs: number, cost: number): Decision {
    const now = this.#now();
    const window = windowMs === this.#lastWindow.windowMs ? this.#lastWindow : this.#windowOf(windowMs);
    const known = window.placeOf(key);
    if (known !== undefined) return window.decide(known, limit, cost, now);
    checkKey(key);
    this.#tidy(window, now);
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

  /** How many keys have been looked at for other keys' sake: what a decision costs besides its own. */
  get looks(): number {
    let looks = 0;
    for (const window of this.#windowList) looks += window.looks;
    return looks;
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

  /** More is let go than comes in, in windows that nobody asks for any more too. */
  #tidy(window: MemoryWindow, now: number): void {
    window.dropRunOut(now);
    this.#tidied = (this.#tidied + 1) % this.#windowList.length;
    this.#windowList[this.#tidied]?.dropRunOut(now);
  }

  #forgetOne(first: MemoryWindow, now: number): boolean {
    const windows = [first, ...this.#windowList.filter((window) => window !== first)];
    if (windows.some((window) => window.dropRunOut(now))) return true;
    const forgotten = windows.some((window) => window.forgetOpen(now));
    this.#say(forgotten ? "forgotten" : "refused", now);
    return forgotten;
  }

  #nextUnblockedAt(now: number): number {
    return Math.min(...this.#windowList.map((window) => window.nextUnblockedAt(now)));
  }

  #say(outcome: "forgotten" | "refused", now: number): void {
    this.#options.metrics.memoryFull(outcome);
    this.#unsaid[outcome] += 1;
    if (now - this.#saidAt < SAY_AGAIN_AFTER_MS) return;
    this.#options.log.warn(
      { keys: this.#maxKeys, ...this.#unsaid },
      "the limiter's memory is full: keys with requests left are forgotten for new ones, blocked ones are kept",
    );
    this.#saidAt = now;
    this.#unsaid = { forgotten: 0, refused: 0 };
  }
}
