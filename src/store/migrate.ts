import { readdir, readFile } from "node:fs/promises";
import type { Database } from "./database.ts";

const FOLDER = new URL("./migrations/", import.meta.url);
// Any number will do, as long as every version of Tollgate takes the same.
const LOCK_KEY = 7_016_552_814;

/**
 * Brings the schema up to date: every numbered file that has not been run yet, in one transaction under an advisory
 * lock, so that processes which start together take turns. Returns the names of the files that were run.
 */
export async function migrate(database: Database): Promise<string[]> {
  const connection = await database.connection();
  let healthy = false;
  try {
    await connection.script("begin");
    await connection.script(`select pg_advisory_xact_lock(${LOCK_KEY})`);
    await connection.script(
      "create table if not exists schema_migration (name text primary key, applied_at timestamptz not null default now())",
    );
    const done = await appliedMigrations(connection);
    const open = (await migrationFiles()).filter((name) => !done.has(name));
    for (const name of open) {
      await connection.script(await readFile(new URL(name, FOLDER), "utf8"));
      await connection.run(
        { name: "record_migration", text: "insert into schema_migration (name) values ($1)" },
        [name],
      );
    }
    await connection.script("commit");
    healthy = true;
    return open;
  } finally {
    // Unhealthy: closing the connection rolls back and lets go of the lock.
    connection.release({ healthy });
  }
}

/** Whether every migration of this version has been run. @throws DatabaseUnavailable */
export async function isMigrated(database: Database): Promise<boolean> {
  const done = await appliedMigrations(database);
  return (await migrationFiles()).every((name) => done.has(name));
}

/** Whether no server has used this database yet. @throws DatabaseUnavailable */
export async function hasNoSchema(database: Database): Promise<boolean> {
  return (await pendingMigrations(database)).length === (await migrationFiles()).length;
}

/** The migrations that have not been run; in an unused database, all. */
export async function pendingMigrations(database: Database): Promise<string[]> {
  const [table] = await database.run<{ exists: boolean }>({
    name: "has_migrations",
    text: "select to_regclass('schema_migration') is not null as exists",
  });
  const done = table?.exists ? await appliedMigrations(database) : new Set();
  return (await migrationFiles()).filter((name) => !done.has(name));
}

async function appliedMigrations(database: Pick<Database, "run">): Promise<Set<string>> {
  const rows = await database.run<{ name: string }>({
    name: "applied_migrations",
    text: "select name from schema_migration",
  });
  return new Set(rows.map((row) => row.name));
}

async function migrationFiles(): Promise<string[]> {
  return (await readdir(FOLDER)).filter((name) => /^\d{4}_.+\.sql$/.test(name)).sort();
}
