import pg from "pg";

/** The methods of a query that the driver's client calls; its types omit most of them. */
interface DriverQuery {
  name?: string | undefined;
  text?: string | undefined;
  callback(error: Error | null, result?: pg.QueryResult): void;
  submit(connection: DriverConnection): Error | null;
  handleRowDescription(message: object): void;
  handleDataRow(message: object): void;
  handleEmptyQuery(connection: DriverConnection): void;
  handleCommandComplete(message: object, connection: DriverConnection): void;
  handleError(error: Error, connection: DriverConnection): void;
  handleReadyForQuery(connection: DriverConnection): void;
}

export interface DriverConnection {
  stream: { destroy(error: Error): void };
  /** Texts of the statements that PostgreSQL has prepared, by name. */
  parsedStatements: Record<string, string>;
  /** Statements by name that were sent, and whose preparation PostgreSQL has not confirmed yet. */
  submittedNamedStatements: Record<string, string>;
  parse(statement: { text: string; name: string | undefined }): void;
  bind(parameters: { statement: string | undefined; values: readonly unknown[] }): void;
  describe(target: { type: "P"; name: "" }): void;
  execute(limits: object): void;
  sync(): void;
}

type QueryConstructor = new (
  config: pg.QueryConfig & { queryMode: "extended" },
  values: undefined,
  callback: DriverQuery["callback"],
) => DriverQuery;

/** The driver accepts no other class where it pipelines. */
export const Query = pg.Query as unknown as QueryConstructor;
