import { Breaker } from "./breaker.ts";
import type { LimiterLog, LimiterMetrics } from "./limiter.ts";

type NodeBreakersOptions = {
  log: LimiterLog;
  metrics: LimiterMetrics;
  now: () => number;
  /** The nodes of the cluster at present. */
  nodes: () => readonly string[];
};

/** A busy Redis may often be late with a single answer: that is not worth a line each time. */
const LOG_EVERY_MS = 60_000;

/** A circuit breaker for each node of Redis, by its address; logs and counts which nodes answer. */
export class NodeBreakers {
  readonly #options: NodeBreakersOptions;
  readonly #breakers = new Map<string, Breaker>();
  readonly #down = new Set<string>();
  #logFailureAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: NodeBreakersOptions) {
    this.#options = options;
  }

  of(node: string): Breaker {
    let breaker = this.#breakers.get(node);
    if (!breaker) {
      const onChange = (up: boolean, error: unknown) => this.#onChange(node, up, error);
      const onFirstFailure = (error: unknown) => this.#onFirstFailure(node, error);
      breaker = new Breaker({ now: this.#options.now, onChange, onFirstFailure });
      this.#breakers.set(node, breaker);
    }
    return breaker;
  }

  /**
   * Nodes that do not answer and have left the cluster: another one has their keys now, and is asked instead.
   */
  forgetGoneNodes(): void {
    if (this.#down.size === 0) return;
    const nodes = this.#options.nodes();
    for (const node of this.#down) {
      if (nodes.includes(node)) continue;
      this.of(node).succeeded();
      this.#breakers.delete(node);
    }
  }

  /** Where decisions are rare, the breaker opens only minutes after the first sign-in has been refused. */
  #onFirstFailure(node: string, error: unknown): void {
    const now = this.#options.now();
    if (now < this.#logFailureAtMs) return;
    this.#logFailureAtMs = now + LOG_EVERY_MS;
    this.#options.log.warn(
      { ...fieldsOf(node), err: error },
      "the limiter's Redis did not answer a request: one for sign-in or billing was refused, any other was counted in this process alone",
    );
  }

  #onChange(node: string, up: boolean, error: unknown): void {
    const { log, metrics } = this.#options;
    if (up) this.#down.delete(node);
    else this.#down.add(node);
    metrics.sharedStore(this.#down.size === 0);
    const fields = fieldsOf(node);
    if (up) {
      log.info(fields, "the limiter's Redis answers again: counts are shared");
      return;
    }
    log.warn(
      { ...fields, err: error },
      "the limiter's Redis does not answer: sign-in and billing are refused, all else is counted in this process alone",
    );
  }
}

function fieldsOf(node: string): { node?: string } {
  return node === "" ? {} : { node };
}
