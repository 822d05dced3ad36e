import { openDatabase, sqlState } from "./database.ts";

const DUPLICATE_OBJECT = "42710";
const UNIQUE_VIOLATION = "23505";

/**
 * Creates the role `tollgate` unless it exists: it owns the database but is no superuser, so that an injected
 * statement reaches neither files nor programs.
 * @param password of characters that need no quoting
 */
export async function ensureRole(adminUrl: string, password: string): Promise<void> {
  const database = openDatabase({
    url: adminUrl,
    prepared: false,
    maxConnections: 1,
    answerTimeoutMs: 30_000,
  });
  try {
    const found = await database.run({
      name: "role",
      text: "select 1 from pg_roles where rolname = 'tollgate'",
    });
    if (found.length > 0) return;
    const connection = await database.connection();
    try {
      await connection.script(`
        begin;
        create role tollgate login password '${password}';
        grant pg_read_all_stats to tollgate;
        alter database postgres owner to tollgate;
        commit;
      `);
    } finally {
      connection.release({ healthy: false });
    }
  } catch (error) {
    // Another process created it concurrently.
    if (![DUPLICATE_OBJECT, UNIQUE_VIOLATION].includes(sqlState(error) ?? "")) throw error;
  } finally {
    await database.close();
  }
}
