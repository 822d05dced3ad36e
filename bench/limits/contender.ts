/** How a limiter is set up: so many in any `windowSeconds`. */
export type Settings = {
  limit: number;
  windowSeconds: number;
  /** On 127.0.0.1; without meaning for those that count in memory. */
  redisPort: number;
  /** In place of the clock, for those that can be told; the others look at `Date`. */
  now?: () => number;
};

/** A limiter, asked as its documentation shows. */
export type Limiter = {
  /**
   * Asks for the keys from one index up to another, each as soon as the one before is answered. @returns how
   * many may pass
   */
  admit(keys: readonly string[], from: number, to: number): Promise<number>;
  ask(key: string): Promise<Decision>;
  /** Makes keys with `count` hits without deciding, where deciding would take minutes. */
  fill?(keys: readonly string[], count: number, from?: number, to?: number): Promise<void>;
  close(): Promise<void>;
};

/** When a refused request may be repeated, where known: in milliseconds since the epoch, or as a wait. */
export type Decision = { allowed: boolean; resetAt?: number; waitMs?: number };

export type Open = (settings: Settings) => Promise<Limiter>;
