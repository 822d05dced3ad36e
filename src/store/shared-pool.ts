import type pg from "pg";
import { type Database, type Queryable, rethrowClassified, type Statement } from "./database.ts";
import { isStatementError } from "./driver/query-pipeline.ts";

export type SharedPoolOptions = {
  /** How many transactions may hold a connection at once; others wait. */
  maxTransactions: number;
  /** Called for every failed statement; the caller may swallow the error. */
  failed(error: unknown): void;
  /** Called with each transaction while it is open, and with `null` once it has ended. */
  opened?(transaction: Queryable | null): void;
};

/**
 * The database's pool for a query builder, with the errors of `Database.run`. Single statements share all
 * connections; transactions, which slow work may hold open, are limited to some of them.
 */
export function sharedPool(database: Database, options: SharedPoolOptions): pg.Pool {
  return new SharedPool(database.pool, options) as unknown as pg.Pool;
}

/** Drizzle recognises a pool by this class name. */
class SharedPool {
  readonly #pool: pg.Pool;
  readonly #options: SharedPoolOptions;
  readonly #waiting: (() => void)[] = [];
  #held = 0;

  constructor(pool: pg.Pool, options: SharedPoolOptions) {
    this.#pool = pool;
    this.#options = options;
  }

  async query(config: pg.QueryConfig, values?: unknown[]) {
    return this.#pool.query(config, values).catch((error) => this.#failed(error));
  }

  async connect() {
    await this.#acquire();
    const client = await this.#pool.connect().catch((error) => {
      this.#releaseSlot();
      return this.#failed(error);
    });
    let state: "new" | "started" | "broken" | "released" = "new";
    const release = () => {
      if (state === "released") return;
      // Only closing it guarantees that the transaction has ended.
      client.release(state === "broken");
      state = "released";
      this.#releaseSlot();
      this.#options.opened?.(null);
    };
    const pooled = {
      release,
      query: async (config: pg.QueryConfig, values?: unknown[]) => {
        try {
          const result = await client.query(config, values);
          if (state === "new") state = "started";
          return result;
        } catch (error) {
          const isFirst = state === "new";
          if (!isStatementError(error)) state = "broken";
          // Drizzle does not return a connection whose `begin` failed.
          if (isFirst) release();
          return this.#failed(error);
        }
      },
    };
    this.#options.opened?.({
      run: async <Row>({ text }: Statement, values: readonly unknown[] = []) =>
        (await pooled.query({ text }, [...values])).rows as Row[],
    });
    return pooled;
  }

  #failed(error: unknown): never {
    try {
      return rethrowClassified(error);
    } catch (problem) {
      this.#options.failed(problem);
      throw problem;
    }
  }

  #acquire(): Promise<void> | undefined {
    if (this.#held < this.#options.maxTransactions) {
      this.#held += 1;
      return undefined;
    }
    return new Promise((acquired) => this.#waiting.push(acquired));
  }

  #releaseSlot(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#held -= 1;
  }
}
