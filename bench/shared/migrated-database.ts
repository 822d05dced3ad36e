import { openDatabase } from "../../src/store/database.ts";
import { migrate } from "../../src/store/migrate.ts";
import type { Postgres } from "./postgres.ts";

/** A database with Tollgate's tables, empty; returns its URL. */
export async function createMigratedDatabase(postgres: Postgres, name: string): Promise<string> {
  const url = await postgres.createDatabase(name);
  const database = openDatabase({ url, prepared: false, maxConnections: 2, answerTimeoutMs: 60_000 });
  await migrate(database).finally(() => database.close());
  return url;
}
