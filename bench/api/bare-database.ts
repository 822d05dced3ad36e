import { type Database, openDatabase } from "../../src/store/database.ts";

/** Tollgate's own access to the database: what it costs above a bare server is what its gate costs. */
export function openBareDatabase(): Database {
  const { DATABASE_URL = "", POOL_SIZE } = process.env;
  return openDatabase({
    url: DATABASE_URL,
    prepared: true,
    maxConnections: Number(POOL_SIZE),
    answerTimeoutMs: 10_000,
  });
}
