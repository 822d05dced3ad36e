import pg from "pg";
import { errorText } from "../domain/error-text.ts";
import { arrayLiteral } from "./driver/array-literal.ts";
import type { BurstClient } from "./driver/burst-client.ts";
import { endsConnection } from "./driver/ends-connection.ts";
import { createPrimaryPool } from "./driver/primary-pool.ts";
import { createQueryPipeline } from "./driver/query-pipeline.ts";
import { settingsStatement } from "./driver/session-settings.ts";
import { LOCK_NOT_AVAILABLE, QUERY_CANCELED } from "./driver/sql-states.ts";

/** The database is unreachable, or the connection broke before the response: the outcome is unknown. */
export class DatabaseUnavailable extends Error {
  override name = "DatabaseUnavailable";

  /** Compared by name: the bundled pages have their own copies of our classes. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === "DatabaseUnavailable";
  }
}

/** A named statement is prepared once per connection, unless a pooler forbids it. */
export type Statement = {
  name: string;
  text: string;
  /** Shares its round trip with no other read: every call waits for it, or it takes long. */
  runsAlone?: true;
};

export type Queryable = {
  /** @throws DatabaseUnavailable, or the `DatabaseError` that PostgreSQL answered with. */
  run<Row>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>;
};

export type Database = Queryable & {
  /**
   * A dedicated connection; statements sent without waiting for each other share a round trip, and fail
   * together.
   */
  connection(): Promise<Connection>;
  /** The driver's pool, for a query builder that writes its own statements: see `shared-pool.ts`. */
  pool: pg.Pool;
  close(): Promise<void>;
};

export type Connection = Queryable & {
  /** Several statements at once, without parameters. */
  script(text: string): Promise<void>;
  /** @param healthy false: the connection is closed, not reused. */
  release(state: { healthy: boolean }): void;
};

export type DatabaseOptions = {
  /** Of one server, or of several with commas between them: the primary among them is used. */
  url: string;
  /** Off for poolers that cannot keep named statements (PgBouncer before 1.24 without `max_prepared_statements`). */
  prepared: boolean;
  maxConnections: number;
  /** How long to wait for any response before the connection is abandoned, in milliseconds. */
  answerTimeoutMs: number;
  /**
   * PostgreSQL's `statement_timeout`; by default the server's setting. Set on each new connection: some
   * poolers reject it as a start-up parameter.
   */
  statementTimeoutMs?: number;
};

/** Identifies this process's connections, for `embedded.ts`. */
export const APPLICATION_NAME = `tollgate ${process.pid}`;

const CONNECT_TIMEOUT_MS = 5_000;

/** Load balancers and firewalls silently forget connections that are idle for minutes; Linux probes after two hours. */
const KEEP_ALIVE_MS = 30_000;

export function openDatabase(options: DatabaseOptions): Database {
  const pool = createPrimaryPool(options.url, {
    max: options.maxConnections,
    connectionTimeoutMillis: Math.min(CONNECT_TIMEOUT_MS, options.answerTimeoutMs),
    query_timeout: options.answerTimeoutMs,
    // The last process to disconnect stops an embedded database, so idle connections stay open.
    idleTimeoutMillis: 0,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    pipeline: true,
    application_name: APPLICATION_NAME,
  });
  // A connection that breaks while idle is replaced by the pool; while in use its queries reject.
  pool.on("error", () => {});
  pool.on("connect", (client) => {
    client.on("error", () => {});
    const { statementTimeoutMs } = options;
    const timeout = statementTimeoutMs === undefined ? "" : `set statement_timeout = ${statementTimeoutMs};`;
    client.query(`${timeout} ${settingsStatement(client)}`).catch(() => {});
  });

  const configOf = (statement: Statement, values: readonly unknown[]) => ({
    text: statement.text,
    values: values.map((value) => (Array.isArray(value) ? arrayLiteral(value) : value)),
    ...(options.prepared ? { name: statement.name } : {}),
  });

  const pipeline = createQueryPipeline(pool);
  const direct = async (config: pg.QueryConfig) => (await pool.query(config)).rows;

  return {
    run: async <Row>(statement: Statement, values: readonly unknown[] = []) => {
      const send = isWrite(statement) ? direct : statement.runsAlone ? pipeline.runAlone : pipeline.run;
      return (await send(configOf(statement, values)).catch(rethrowTimeoutAsUnavailable)) as Row[];
    },
    connection: async () => {
      const client = (await pool.connect().catch(rethrowClassified)) as pg.PoolClient & BurstClient;
      return {
        run: async <Row>(statement: Statement, values: readonly unknown[] = []) => {
          return (await client.runTogether(configOf(statement, values)).catch(rethrowClassified)) as Row[];
        },
        script: async (text) => {
          client.burst();
          await client.query(text).catch(rethrowClassified);
        },
        release: ({ healthy }) => client.release(!healthy),
      };
    },
    pool,
    close: () => pool.end(),
  };
}

/**
 * A write may wait for a row lock, and must not delay other statements. Nor may it be sent before a read that fails:
 * PostgreSQL would take it back.
 */
function isWrite(statement: Statement): boolean {
  let isKnownWrite = isWriteByStatement.get(statement);
  if (isKnownWrite === undefined) {
    isKnownWrite = WRITES.test(statement.text);
    isWriteByStatement.set(statement, isKnownWrite);
  }
  return isKnownWrite;
}

/** Statements are constants, so each is classified once. */
const isWriteByStatement = new WeakMap<Statement, boolean>();
const WRITES = /\b(insert|update|delete|lock|share)\b/i;

/** The five-character code of an error that PostgreSQL answered with, else `null`. */
export function sqlState(error: unknown): string | null {
  return error instanceof pg.DatabaseError ? (error.code ?? null) : null;
}

export function violatedConstraint(error: unknown): string | null {
  return error instanceof pg.DatabaseError ? (error.constraint?.replace(REINDEX_SUFFIX, "") ?? null) : null;
}

/** `reindex concurrently` keeps a second version of the index, `_ccnew` or `_ccold`, and an error may name it. */
const REINDEX_SUFFIX = /_cc(?:old|new)\d*$/;

export function violatedTable(error: unknown): string | null {
  return error instanceof pg.DatabaseError ? (error.table ?? null) : null;
}

// Connection lost (08, except 08P01, which is our mistake), out of resources (53), shutdown or startup (57P),
// broken disk (58), standby (25006).
const UNAVAILABLE = /^(08(?!P01)|53|57P|58|25006)/;

/** A lock, or the whole database, was too slow: not the fault of the data. */
export function isTimeout(error: unknown): boolean {
  const state = sqlState(error);
  return state === LOCK_NOT_AVAILABLE || state === QUERY_CANCELED;
}

/** For whoever waits for a change, a timeout means that the database is unavailable. @throws the error, or DatabaseUnavailable */
export function throwUnavailableOnTimeout(error: unknown): never {
  if (isTimeout(error))
    throw new DatabaseUnavailable("a lock was not free in time, or the database was too slow", {
      cause: error,
    });
  throw error;
}

/** For a single statement, too. */
function rethrowTimeoutAsUnavailable(error: unknown): never {
  if (isTimeout(error)) return throwUnavailableOnTimeout(error);
  return rethrowClassified(error);
}

/** @throws DatabaseUnavailable, or the `DatabaseError` itself */
export function rethrowClassified(error: unknown): never {
  const state = error instanceof pg.DatabaseError && !endsConnection(error) ? sqlState(error) : null;
  if (state !== null && !UNAVAILABLE.test(state)) throw error;
  throw new DatabaseUnavailable(errorText(error), { cause: error });
}
