export type BreakerOptions = {
  now: () => number;
  /** Called when it opens (`up` is false) and when it closes. */
  onChange: (up: boolean, error: unknown) => void;
  /** Called with the first failure in a row, while it is closed. */
  onFirstFailure?: (error: unknown) => void;
};

const MAX_FAILURES_IN_A_ROW = 5;
const MIN_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2_000;

/**
 * A circuit breaker: while a store does not answer, one request probes it after a pause, and all others skip
 * it.
 */
export class Breaker {
  readonly #options: BreakerOptions;
  #failures = 0;
  #isOpen = false;
  #isProbing = false;
  #pauseMs = MIN_PAUSE_MS;
  #probeAt = 0;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  /** `probe`: this request is the one that tries. After `yes` and `probe` the outcome must be reported. */
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
    this.#pauseMs = MIN_PAUSE_MS;
    this.#options.onChange(true, null);
  }

  failed(permit: "yes" | "probe", error: unknown): void {
    if (permit === "probe") {
      this.#isProbing = false;
      this.#pauseMs = Math.min(this.#pauseMs * 2, MAX_PAUSE_MS);
      this.#probeAt = this.#options.now() + this.#pauseMs;
      return;
    }
    this.#failures += 1;
    if (this.#failures === 1 && !this.#isOpen) this.#options.onFirstFailure?.(error);
    if (this.#failures >= MAX_FAILURES_IN_A_ROW) this.open(error);
  }

  open(error: unknown): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#probeAt = this.#options.now() + this.#pauseMs;
    this.#options.onChange(false, error);
  }
}
