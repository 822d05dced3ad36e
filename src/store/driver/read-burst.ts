import type pg from "pg";
import { type Answer, Burst, type RowReading } from "./burst.ts";
import type { DriverConnection } from "./driver-query.ts";

/** A statement that only reads, and who waits for its rows. */
export type Read = {
  config: pg.QueryConfig;
  resolve(rows: object[]): void;
  reject(error: unknown): void;
};

/** Reads of several callers, each resolved when its own rows are complete. */
export class ReadBurst extends Burst {
  /** Until they are sent, all of them; then those that could be. */
  #reads: readonly Read[];

  /**
   * @param done called once; after an error with the reads that PostgreSQL has not answered, the failed one
   * first
   */
  constructor(
    reads: readonly Read[],
    reading: RowReading,
    done: (error: Error | null, unanswered: readonly Read[]) => void,
  ) {
    super(reading, (error) => done(error, error ? this.#reads.slice(this.answered) : []));
    this.#reads = reads;
  }

  override submit(connection: DriverConnection): null {
    this.#reads = this.#reads.filter((read) => {
      try {
        this.send(read.config, connection);
        return true;
      } catch (error) {
        read.reject(error);
        return false;
      }
    });
    this.sync(connection);
    return null;
  }

  protected override answer(index: number, { rows, failure }: Answer): void {
    const read = this.#reads[index];
    if (failure) read?.reject(failure);
    else read?.resolve(rows);
  }

  override handleReadyForQuery(): void {
    this.callback(null);
  }
}
