/// <reference path="./pg-utils.d.ts" />
import type pg from "pg";
import utils from "pg/lib/utils.js";
import { type DriverConnection, Query } from "./driver-query.ts";

/** How to read the rows of a statement. */
type RowShape = { names: string[]; parsers: ((text: string) => unknown)[] };

/** How a connection reads rows. */
export type RowReading = {
  /** By the statement's name: PostgreSQL keeps the columns of a prepared statement as they are. */
  shapes: Map<string, RowShape>;
  typeParser(typeId: number): (text: string) => unknown;
};

type Sent = { config: pg.QueryConfig; shape: RowShape | undefined; rows: object[]; failure: Error | null };

/** A statement that PostgreSQL has run. `failure`: of a row that cannot be read. */
export type Answer = Pick<Sent, "rows" | "failure">;

/**
 * Statements that end with one `Sync`, so that PostgreSQL sends their results together. One by one, each
 * would cost both sides a system call, and this process an object of the driver. PostgreSQL skips those after
 * one that fails.
 */
export abstract class Burst extends Query {
  readonly #reading: RowReading;
  readonly #sent: Sent[] = [];
  #answered = 0;

  /** @param done called once, with the error that ended the burst */
  constructor(reading: RowReading, done: (error: Error | null) => void) {
    super({ text: "", queryMode: "extended" }, undefined, done);
    this.#reading = reading;
  }

  abstract override submit(connection: DriverConnection): Error | null;

  /** The statement that was sent as the `index`th has been run. */
  protected abstract answer(index: number, answer: Answer): void;

  /** How many of the statements that were sent have been run. */
  protected get answered(): number {
    return this.#answered;
  }

  /**
   * @throws Error when a value cannot be sent, or its name belongs to another statement; then nothing was
   * sent
   */
  protected send(config: pg.QueryConfig, connection: DriverConnection): void {
    const { text, name, values = [] } = config;
    const known = name
      ? (connection.parsedStatements[name] ?? connection.submittedNamedStatements[name])
      : undefined;
    if (known !== undefined && known !== text) throw new Error(`two statements are called "${name}"`);
    const parameters = values.map(utils.prepareValue);
    if (known === undefined) {
      connection.parse({ text, name });
      if (name) connection.submittedNamedStatements[name] = text;
    }
    connection.bind({ statement: name, values: parameters });
    const shape = name ? this.#reading.shapes.get(name) : undefined;
    if (!shape) connection.describe({ type: "P", name: "" });
    connection.execute({});
    this.#sent.push({ config, shape, rows: [], failure: null });
  }

  protected sync(connection: DriverConnection): void {
    connection.sync();
    this.#nameCurrent();
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
      current.failure ??= error as Error;
    }
  }

  override handleEmptyQuery(): void {
    this.#answerCurrent();
  }

  override handleCommandComplete(): void {
    this.#answerCurrent();
  }

  #answerCurrent(): void {
    const index = this.#answered;
    this.#answered += 1;
    this.#nameCurrent();
    const current = this.#sent[index];
    if (current) this.answer(index, current);
  }

  override handleError(error: Error, connection: DriverConnection): void {
    // Skipped, so not prepared either.
    for (const { config } of this.#sent.slice(this.#answered))
      if (config.name) delete connection.submittedNamedStatements[config.name];
    this.callback(error);
  }

  /** The driver records under this name that PostgreSQL has prepared the statement. */
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
