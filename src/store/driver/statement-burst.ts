import type pg from "pg";
import { type Answer, Burst, type RowReading } from "./burst.ts";
import type { DriverConnection } from "./driver-query.ts";

/** Statements of one transaction: when one fails, all do. */
export class StatementBurst extends Burst {
  readonly #configs: readonly pg.QueryConfig[];
  readonly #rows: object[][];
  #failure: Error | null = null;

  /** @param done called once, with the rows of all statements or with the first error */
  constructor(
    configs: readonly pg.QueryConfig[],
    reading: RowReading,
    done: (error: Error | null, rows: readonly object[][]) => void,
  ) {
    const rows: object[][] = [];
    super(reading, (error) => done(error, rows));
    this.#configs = configs;
    this.#rows = rows;
  }

  override submit(connection: DriverConnection): Error | null {
    try {
      for (const config of this.#configs) this.send(config, connection);
    } catch (error) {
      // What was sent must not be committed without it.
      connection.stream.destroy(error as Error);
      return error as Error;
    }
    this.sync(connection);
    return null;
  }

  protected override answer(index: number, { rows, failure }: Answer): void {
    this.#rows[index] = rows;
    this.#failure ??= failure;
  }

  override handleReadyForQuery(): void {
    this.callback(this.#failure);
  }
}
