/// <reference path="./pg-utils.d.ts" />
import type pg from "pg";
import utils from "pg/lib/utils.js";
import { type DriverConnection, Query } from "./driver-query.ts";

/** A statement that only reads, and who waits for its rows. */
export type Read = {
  config: pg.QueryConfig;
  resolve(rows: object[]): void;
  reject(error: unknown): void;
};

/** How to read the rows of a statement. */
type RowShape = { names: string[]; parsers: ((text: string) => unknown)[] };

type SentRead = Read & { shape: RowShape | undefined; rows: object[]; failure: unknown };

/** How a connection reads rows. */
export type RowReading = {
  /** By the statement's name: PostgreSQL keeps the columns of a prepared statement as they are. */
  shapes: Map<string, RowShape>;
  typeParser(typeId: number): (text: string) => unknown;
};

/**
 * Statements that end with one `Sync`, so that PostgreSQL sends their results together, and without the driver's object,
 * timer and promises for each. Each is answered when it is complete. PostgreSQL skips those behind one that fails.
 */
export class ReadBurst extends Query {
  readonly #reads: readonly Read[];
  readonly #reading: RowReading;
  #sent: SentRead[] = [];
  #answered = 0;

  /** @param done called once; after an error with the reads that PostgreSQL has not answered: first that which failed */
  constructor(
    reads: readonly Read[],
    reading: RowReading,
    done: (error: Error | null, unanswered: readonly Read[]) => void,
  ) {
    super({ text: "", queryMode: "extended" }, undefined, (error) =>
      done(error, error ? this.#sent.slice(this.#answered) : []),
    );
    this.#reads = reads;
    this.#reading = reading;
  }

  override submit(connection: DriverConnection): null {
    for (const read of this.#reads) this.#send(read, connection);
    connection.sync();
    this.#nameCurrent();
    return null;
  }

  #send(read: Read, connection: DriverConnection): void {
    const { text, name, values = [] } = read.config;
    const known = name
      ? (connection.parsedStatements[name] ?? connection.submittedNamedStatements[name])
      : undefined;
    let parameters: unknown[];
    try {
      if (known !== undefined && known !== text) throw new Error(`two statements are called "${name}"`);
      parameters = values.map(utils.prepareValue);
    } catch (error) {
      read.reject(error);
      return;
    }
    if (known === undefined) {
      connection.parse({ text, name });
      if (name) connection.submittedNamedStatements[name] = text;
    }
    connection.bind({ statement: name, values: parameters });
    const shape = name ? this.#reading.shapes.get(name) : undefined;
    if (!shape) connection.describe({ type: "P", name: "" });
    connection.execute({});
    this.#sent.push({ ...read, shape, rows: [], failure: null });
  }

  override handleRowDescription({ fields }: { fields: { name: string; dataTypeID: number }[] }): void {
    const current = this.#sent[this.#answered];
    if (!current) return;
    current.shape = {
      names: fields.map(({ name }) => name),
      parsers: fields.map(({ dataTypeID }) => this.#reading.typeParser(dataTypeID)),
    };
    if (current.config.name) this.#reading.shapes.set(current.config.name, current.shape);
  }

  override handleDataRow({ fields }: { fields: (string | null)[] }): void {
    const current = this.#sent[this.#answered];
    if (!current?.shape) return;
    try {
      current.rows.push(rowOf(fields, current.shape));
    } catch (error) {
      current.failure ??= error;
    }
  }

  override handleEmptyQuery(): void {
    this.#answerCurrent();
  }

  override handleCommandComplete(): void {
    this.#answerCurrent();
  }

  #answerCurrent(): void {
    const current = this.#sent[this.#answered];
    this.#answered += 1;
    this.#nameCurrent();
    if (current?.failure) current.reject(current.failure);
    else current?.resolve(current.rows);
  }

  override handleError(error: Error, connection: DriverConnection): void {
    // Skipped, so not prepared either.
    for (const { config } of this.#sent.slice(this.#answered))
      if (config.name) delete connection.submittedNamedStatements[config.name];
    this.callback(error);
  }

  override handleReadyForQuery(): void {
    this.callback(null);
  }

  /** The client notes under this name that PostgreSQL has prepared the statement. */
  #nameCurrent(): void {
    const config = this.#sent[this.#answered]?.config;
    this.name = config?.name;
    this.text = config?.text;
  }
}

function rowOf(fields: readonly (string | null)[], { names, parsers }: RowShape): object {
  const row: Record<string, unknown> = {};
  for (let index = 0; index < names.length; index++) {
    const text = fields[index] as string | null;
    row[names[index] as string] = text === null ? null : parsers[index]?.(text);
  }
  return row;
}
