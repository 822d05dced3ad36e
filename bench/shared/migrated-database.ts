import type { Postgres } from "./postgres.ts";

type Store = typeof import("../../src/store/database.ts");
type Migrations = typeof import("../../src/store/migrate.ts");

const ROOT = new URL("../..", import.meta.url).pathname;

/**
 * A database with Tollgate's tables, empty; returns its URL. @param root another checkout, whose migrations
 * are run
 */
export async function createMigratedDatabase(
  postgres: Postgres,
  name: string,
  root: string = ROOT,
): Promise<string> {
  const url = await postgres.createDatabase(name);
  const { openDatabase } = (await import(`${root}src/store/database.ts`)) as Store;
  const { migrate } = (await import(`${root}src/store/migrate.ts`)) as Migrations;
  const database = openDatabase({ url, prepared: false, maxConnections: 2, answerTimeoutMs: 60_000 });
  await migrate(database).finally(() => database.close());
  return url;
}
