import type { Tracing } from "../domain/tracing.ts";
import { type Connection, type Database, DatabaseUnavailable, sqlState } from "./database.ts";

/**
 * A span per statement, with the statement's name only: its text has no values, but is long. Statements of no
 * request, job or group, such as a check whether anything is due, have none.
 */
export function traceDatabase(database: Database, tracing: Tracing | null): Database {
  if (tracing === null) return database;
  return {
    ...database,
    run: (statement, values) => inSpan(tracing, statement.name, () => database.run(statement, values)),
    connection: async () => tracedConnection(await database.connection(), tracing),
  };
}

function tracedConnection(connection: Connection, tracing: Tracing): Connection {
  return {
    ...connection,
    run: (statement, values) => inSpan(tracing, statement.name, () => connection.run(statement, values)),
    script: (text) => inSpan(tracing, "script", () => connection.script(text)),
  };
}

function inSpan<Result>(tracing: Tracing, name: string, send: () => Promise<Result>): Promise<Result> {
  if (tracing.active() === null) return send();
  const span = tracing.start(name, {
    kind: "client",
    parent: "active",
    attributes: { "db.system.name": "postgresql", "db.query.summary": name },
  });
  const result = send();
  result.then(
    () => span.end(),
    (error) => {
      const state = sqlState(error);
      if (state !== null) span.set({ "db.response.status_code": state });
      span.end(state ?? (error instanceof DatabaseUnavailable ? "unavailable" : "unknown"));
    },
  );
  return result;
}
