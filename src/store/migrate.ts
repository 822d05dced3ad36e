import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { type Connection, type Database, sqlState } from "./database.ts";
import { unlimitedTransactions } from "./driver/session-settings.ts";
import { LOCK_NOT_AVAILABLE, QUERY_CANCELED } from "./driver/sql-states.ts";
import { MIGRATIONS_FOLDER, migrationFailure, migrationFiles, requireNames } from "./migration-files.ts";

// Any number works, as long as every version of Tollgate uses the same.
const LOCK_KEY = 7_016_552_815;
const LOCK_POLL_MS = 100;

/** A statement that waits for a lock blocks everybody behind it: it gives up soon and is retried. */
const LOCK_TIMEOUT_MS = 1_000;
const MAX_TRIES = 300;
const PAUSE_MS = 1_000;

/** After this long PostgreSQL ends what a process holds that was stopped or has lost its network. */
const SILENT_FOR_MS = 15_000;
const SIGN_OF_LIFE_MS = 3_000;

/** At a role's stricter level, the transaction that holds the lock would keep a snapshot. */
const BEGIN = `begin isolation level read committed; select ${unlimitedTransactions({ isLocal: true })}`;

/**
 * Also the sign of life: it takes no snapshot, while an index that is built concurrently waits for the end of
 * every transaction that has one at a certain moment.
 */
const SILENCE_LIMIT = `set local idle_in_transaction_session_timeout = ${SILENT_FOR_MS}`;

/**
 * Brings the schema up to date while other processes, of this release or the one before, keep working. Each
 * numbered file is a transaction of its own; a file named `_concurrently` is one statement outside of any.
 * Processes that start together take turns. Needs two connections. Returns the names of the files that were
 * run.
 * @throws MigrationFailed, DatabaseUnavailable
 */
export async function migrate(database: Database, folder = MIGRATIONS_FOLDER): Promise<string[]> {
  await requireNames(folder);
  const lock = await lockMigrations(database);
  try {
    await createHistory(database);
    const open = await pendingMigrations(database, folder);
    for (const name of open) {
      const text = await readFile(new URL(name, folder), "utf8");
      const running = isConcurrent(name)
        ? retryOn(QUERY_CANCELED, () => runConcurrently(database, lock, name, text))
        : retryOn(LOCK_NOT_AVAILABLE, () => runInTransaction(database, name, text));
      await running.catch((error) => {
        throw migrationFailure(error, name, text);
      });
    }
    return open;
  } finally {
    lock.release();
  }
}

/** Whether every migration of this version has been run. @throws DatabaseUnavailable */
export async function isMigrated(database: Database): Promise<boolean> {
  const applied = await appliedMigrations(database);
  return (await migrationFiles()).every((name) => applied.has(name));
}

/** Whether no server has used this database yet. @throws DatabaseUnavailable */
export async function hasNoSchema(database: Database): Promise<boolean> {
  return (await pendingMigrations(database)).length === (await migrationFiles()).length;
}

/** The migrations that have not been run; in an unused database, all. */
export async function pendingMigrations(database: Database, folder = MIGRATIONS_FOLDER): Promise<string[]> {
  const [table] = await database.run<{ exists: boolean }>({
    name: "has_migrations",
    text: "select to_regclass('schema_migration') is not null as exists",
  });
  const applied = table?.exists ? await appliedMigrations(database) : new Set();
  return (await migrationFiles(folder)).filter((name) => !applied.has(name));
}

type MigrationLock = {
  /** @throws DatabaseUnavailable when it is lost: this process was stopped, and another one migrates */
  confirm(): Promise<void>;
  release(): void;
};

/**
 * An advisory lock held by an idle transaction, so that it works through a pooler and ends with the process,
 * or once that is silent. Others poll: `create index concurrently` would wait for a statement that is waiting
 * for this lock.
 */
async function lockMigrations(database: Database): Promise<MigrationLock> {
  const connection = await database.connection();
  try {
    while (!(await tryLock(connection))) await sleep(LOCK_POLL_MS);
  } catch (error) {
    connection.release({ healthy: false });
    throw error;
  }
  const showLife = () => connection.script(SILENCE_LIMIT);
  const signsOfLife = setInterval(() => showLife().catch(() => {}), SIGN_OF_LIFE_MS);
  return {
    confirm: showLife,
    release: () => {
      clearInterval(signsOfLife);
      // Closing the connection ends the transaction.
      connection.release({ healthy: false });
    },
  };
}

/**
 * Keeps the transaction open only when it has the lock, and never with a snapshot, which would block others.
 */
async function tryLock(connection: Connection): Promise<boolean> {
  await connection.script(`${BEGIN}; ${SILENCE_LIMIT}`);
  const [row] = await connection.run<{ locked: boolean }>({
    name: "lock_migrations",
    text: `select pg_try_advisory_xact_lock(${LOCK_KEY}) as locked`,
  });
  const isLocked = row?.locked ?? false;
  // Either statement closes the query's portal.
  await connection.script(isLocked ? "select" : "rollback");
  return isLocked;
}

async function createHistory(database: Database): Promise<void> {
  await onConnection(database, (connection) =>
    connection.script(
      "create table if not exists schema_migration (name text primary key, applied_at timestamptz not null default now())",
    ),
  );
}

async function runInTransaction(database: Database, name: string, text: string): Promise<void> {
  await onConnection(database, async (connection) => {
    await connection.script(
      `${BEGIN}; set local lock_timeout = ${LOCK_TIMEOUT_MS}; set local statement_timeout = 0; ${SILENCE_LIMIT}`,
    );
    await connection.script(text);
    await recordMigration(connection, name);
    await connection.script("commit");
  });
}

/**
 * An interrupted run leaves an invalid index behind, which is dropped first; `if not exists` keeps one that servers
 * rely on. Behind a transaction pooler the
 * timeout may apply to another connection than the statement, which has that of a serving process then.
 */
async function runConcurrently(
  database: Database,
  lock: MigrationLock,
  name: string,
  text: string,
): Promise<void> {
  await onConnection(database, async (connection) => {
    await connection.script("set statement_timeout = 0; set lock_timeout = 0");
    const [, keepsExisting, index] = /\bindex concurrently (if not exists )?(\w+)/.exec(text) ?? [];
    if (index && !(keepsExisting && (await isUsable(connection, index))))
      await connection.script(`drop index concurrently if exists ${index}`);
    await connection.script(text);
    await lock.confirm();
    await recordMigration(connection, name);
    await connection.script("reset statement_timeout; reset lock_timeout");
  });
}

async function isUsable(connection: Connection, index: string): Promise<boolean> {
  const rows = await connection.run(
    {
      name: "is_index_usable",
      text: "select from pg_index where indexrelid = to_regclass($1) and indisvalid",
    },
    [index],
  );
  return rows.length > 0;
}

async function recordMigration(connection: Connection, name: string): Promise<void> {
  await connection.run(
    { name: "record_migration", text: "insert into schema_migration (name) values ($1)" },
    [name],
  );
}

async function onConnection(database: Database, work: (connection: Connection) => Promise<void>) {
  const connection = await database.connection();
  let healthy = false;
  try {
    await work(connection);
    healthy = true;
  } finally {
    // Unhealthy: closing the connection rolls back.
    connection.release({ healthy });
  }
}

async function retryOn(state: string, run: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await run();
    } catch (error) {
      if (sqlState(error) !== state || tries >= MAX_TRIES) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

async function appliedMigrations(database: Pick<Database, "run">): Promise<Set<string>> {
  const rows = await database.run<{ name: string }>({
    name: "applied_migrations",
    text: "select name from schema_migration",
  });
  return new Set(rows.map((row) => row.name));
}

function isConcurrent(name: string): boolean {
  return name.endsWith("_concurrently.sql");
}
