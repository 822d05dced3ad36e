type Waiting = { expiresAt: number; onLate: (() => void) | null };

/** When the timer fires later than this, this process was busy, not the store slow. */
const OWN_DELAY_MS = 10;
const MAX_GRACE = 3;
/** Settled entries at the front of the queue before it is compacted. */
const COMPACT_AFTER = 1_024;

/** One time limit for many operations, with one timer: a timer each would cost more than the operation. */
export class Deadlines {
  readonly #limitMs: number;
  #queue: Waiting[] = [];
  #first = 0;
  #timer: NodeJS.Timeout | undefined;
  #dueAt = 0;
  #notBefore = 0;

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  /** @returns a function that ends the wait, and returns whether it was in time */
  start(onLate: () => void): () => boolean {
    const waiting: Waiting = { expiresAt: performance.now() + this.#limitMs, onLate };
    this.#dropSettled();
    this.#queue.push(waiting);
    if (!this.#timer) this.#schedule(waiting.expiresAt);
    return () => {
      if (waiting.onLate === null) return false;
      waiting.onLate = null;
      return true;
    };
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  /**
   * Nearly all settle in order and soon: kept until they expire, they would survive into the old generation.
   */
  #dropSettled(): void {
    while (this.#first < this.#queue.length && this.#queue[this.#first]?.onLate === null) this.#first += 1;
    if (this.#first === this.#queue.length) this.#queue.length = 0;
    else if (this.#first >= COMPACT_AFTER) this.#queue.splice(0, this.#first);
    else return;
    this.#first = 0;
  }

  #schedule(at: number): void {
    this.#dueAt = at;
    this.#timer = setTimeout(() => this.#onTime(), Math.max(1, at - performance.now()));
  }

  #onTime(): void {
    const now = performance.now();
    if (now - this.#dueAt > OWN_DELAY_MS) this.#notBefore = now + this.#limitMs;
    // Replies that arrived while this process was busy are read before anything counts as late.
    setImmediate(() => this.#expire());
  }

  #expire(): void {
    const now = performance.now();
    for (; this.#first < this.#queue.length; this.#first += 1) {
      const waiting = this.#queue[this.#first] as Waiting;
      if (waiting.onLate === null) continue;
      const expiresAt = this.#expiryOf(waiting);
      if (expiresAt > now) {
        this.#queue = this.#queue.slice(this.#first);
        this.#first = 0;
        this.#schedule(expiresAt);
        return;
      }
      const { onLate } = waiting;
      waiting.onLate = null;
      onLate();
    }
    this.#queue = [];
    this.#first = 0;
    this.#timer = undefined;
  }

  #expiryOf({ expiresAt }: Waiting): number {
    return Math.min(Math.max(expiresAt, this.#notBefore), expiresAt + MAX_GRACE * this.#limitMs);
  }
}
