export type BreakerOptions = {
  now: () => number;
  /** Told whenever it opens (`up` is false) and closes. */
  onChange: (up: boolean, error: unknown) => void;
};

const FAILURES_IN_A_ROW = 5;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

/** Whether to ask a store that has stopped answering: after a pause one request tries, and all others go without. */
export class Breaker {
  readonly #options: BreakerOptions;
  #failures = 0;
  #isOpen = false;
  #isProbing = false;
  #pauseMs = FIRST_PAUSE_MS;
  #probeAt = 0;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  /** `probe`: this request is the one that tries. Whoever may go must say what came of it. */
  tryAcquire(): "yes" | "no" | "probe" {
    if (!this.#isOpen) return "yes";
    if (this.#isProbing || this.#options.now() < this.#probeAt) return "no";
    this.#isProbing = true;
    return "probe";
  }

  succeeded(): void {
    this.#failures = 0;
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#isProbing = false;
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#options.onChange(true, null);
  }

  failed(going: "yes" | "probe", error: unknown): void {
    if (going === "probe") {
      this.#isProbing = false;
      this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
      this.#probeAt = this.#options.now() + this.#pauseMs;
      return;
    }
    this.#failures += 1;
    if (this.#failures >= FAILURES_IN_A_ROW) this.open(error);
  }

  open(error: unknown): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#probeAt = this.#options.now() + this.#pauseMs;
    this.#options.onChange(false, error);
  }
}
