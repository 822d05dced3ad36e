import {
  type Connection,
  type Database,
  DatabaseUnavailable,
  rethrowClassified,
  sqlState,
} from "./database.ts";
import { DUPLICATE_PREPARED_STATEMENT, INVALID_SQL_STATEMENT_NAME } from "./driver/sql-states.ts";

const POOLER_CHECK = { name: "pooler_check", text: "select 1" };

/**
 * Behind a pooler, runs a prepared statement on two connections. One that does not track them runs both on one
 * connection to PostgreSQL, which has the statement by then. Without this a server would start, and fail from its
 * second connection on.
 * @throws DatabaseError see `isPreparedStatementError`
 */
export async function checkPreparedStatements(database: Database): Promise<void> {
  // A direct connection loses nothing, and there may be no second one.
  if (await isDirect(database)) return;
  const connections: Connection[] = [];
  try {
    while (connections.length < 2) connections.push(await database.connection());
    // Both must be idle, or the pooler would use two connections.
    for (const connection of connections) await connection.script("select 1");
    for (const connection of connections) await connection.run(POOLER_CHECK);
  } catch (error) {
    // No second one, as of a pooler in session mode, which keeps what the first has prepared.
    if (connections.length !== 1 || !(error instanceof DatabaseUnavailable)) throw error;
  } finally {
    // Closed: in session mode, each keeps one of the pooler's few.
    for (const connection of connections) connection.release({ healthy: false });
  }
}

/** Whether the process that answers is the one that has accepted the connection. */
async function isDirect({ pool }: Database): Promise<boolean> {
  const client = await pool.connect().catch(rethrowClassified);
  try {
    const { processID } = client as unknown as { processID: number | null };
    const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
    return rows[0]?.pid === processID;
  } catch (error) {
    return rethrowClassified(error);
  } finally {
    client.release();
  }
}

/** Whether a pooler has run a prepared statement on a connection that has another of its name, or none. */
export function isPreparedStatementError(error: unknown): boolean {
  const state = sqlState(error);
  return state === DUPLICATE_PREPARED_STATEMENT || state === INVALID_SQL_STATEMENT_NAME;
}

export const PREPARED_STATEMENTS_REMEDY =
  "Set DATABASE_PREPARED=off, or max_prepared_statements=200 in PgBouncer 1.21 or later";
