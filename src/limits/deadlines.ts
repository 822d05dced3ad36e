type Waiting = { expiresAt: number; onLate: (() => void) | null };

/** By how much the timer may be late before it is this process that is taken for slow. */
const OWN_DELAY_MS = 10;
const LONGEST_GRACE = 3;
/** Places that are empty at the front of the queue before it is moved up. */
const EMPTY_PLACES = 1_024;

/** The same time limit for many: one timer for all, where a timer for each would cost more than what it watches. */
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

  /** @returns a function that ends the wait, and says whether it was still on */
  start(onLate: () => void): () => boolean {
    const waiting: Waiting = { expiresAt: performance.now() + this.#limitMs, onLate };
    this.#letGoOfAnswered();
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

  /** Nearly all are answered in order and soon: kept until their time is up, they would have to be collected as old. */
  #letGoOfAnswered(): void {
    while (this.#first < this.#queue.length && this.#queue[this.#first]?.onLate === null) this.#first += 1;
    if (this.#first === this.#queue.length) this.#queue.length = 0;
    else if (this.#first >= EMPTY_PLACES) this.#queue.splice(0, this.#first);
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
    // Answers that have arrived while this process was busy are read before anything is called late.
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
    return Math.min(Math.max(expiresAt, this.#notBefore), expiresAt + LONGEST_GRACE * this.#limitMs);
  }
}
