import type { Log } from "../observability/log.ts";
import { openDatabase } from "../store/database.ts";
import { migrate } from "../store/migrate.ts";

/** Another process may be migrating, and the migration of a large table takes long. */
const MIGRATION_TIMEOUT_MS = 30 * 60 * 1000;

/** On a separate connection, because a migration needs longer timeouts than a delivery. */
export async function migrateSchema(connecting: { url: string; prepared: boolean }, log: Log): Promise<void> {
  const database = openDatabase({ ...connecting, maxConnections: 2, answerTimeoutMs: MIGRATION_TIMEOUT_MS });
  try {
    const run = await migrate(database);
    if (run.length > 0) log.info({ migrations: run }, "database schema brought up to date");
  } finally {
    await database.close();
  }
}
