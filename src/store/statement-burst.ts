import type pg from "pg";
import { type DriverConnection, type DriverQuery, Query } from "./driver-query.ts";

/**
 * Statements that end with one `Sync`, so that PostgreSQL sends their results together: one by one, each would cost
 * both sides a system call. PostgreSQL skips those behind one that fails.
 */
export class StatementBurst extends Query {
  readonly #statements: readonly DriverQuery[];
  #answered = 0;
  /** Of a value that cannot be sent, or of a row that cannot be read. */
  #failure: Error | null = null;

  /** @param done called once, with all results or with the first error: then no statement has a result. */
  constructor(
    configs: readonly pg.QueryConfig[],
    done: (error: Error | null, results: readonly pg.QueryResult[]) => void,
  ) {
    const results: pg.QueryResult[] = [];
    super({ text: "", queryMode: "extended" }, undefined, (error) => done(error, results));
    this.#statements = configs.map(
      (config, index) =>
        // Extended, as PostgreSQL ends the other kind of message with a `Sync` of its own.
        new Query({ ...config, queryMode: "extended" }, undefined, (error, result) => {
          this.#failure ??= error;
          results[index] = result as pg.QueryResult;
        }),
    );
    this.#nameCurrent();
  }

  override submit(connection: DriverConnection): Error | null {
    const withoutSync = Object.create(connection, { sync: { value: () => {} } }) as DriverConnection;
    for (const statement of this.#statements) {
      const error = statement.submit(withoutSync) ?? this.#failure;
      if (error === null) continue;
      // What was sent must not be committed without it.
      connection.stream.destroy(error);
      return error;
    }
    connection.sync();
    return null;
  }

  override handleRowDescription(message: object): void {
    this.#current()?.handleRowDescription(message);
  }

  override handleDataRow(message: object): void {
    this.#current()?.handleDataRow(message);
  }

  override handleEmptyQuery(): void {
    this.#advance();
  }

  override handleCommandComplete(message: object, connection: DriverConnection): void {
    this.#current()?.handleCommandComplete(message, connection);
    this.#advance();
  }

  override handleError(error: Error, connection: DriverConnection): void {
    // Skipped, so not prepared either.
    for (const { name } of this.#statements.slice(this.#answered))
      if (name) delete connection.submittedNamedStatements[name];
    this.callback(error);
  }

  override handleReadyForQuery(connection: DriverConnection): void {
    for (const statement of this.#statements) statement.handleReadyForQuery(connection);
    this.callback(this.#failure);
  }

  #current(): DriverQuery | undefined {
    return this.#statements[this.#answered];
  }

  #advance(): void {
    this.#answered += 1;
    this.#nameCurrent();
  }

  /** The client notes under this name that PostgreSQL has prepared the statement. */
  #nameCurrent(): void {
    this.name = this.#current()?.name;
    this.text = this.#current()?.text;
  }
}
