import { type Database, openDatabase } from "../store/database.ts";

const QUERY_TIMEOUT_MS = 60_000;

/** Reads another system's PostgreSQL. */
export async function withForeignDatabase<Result>(
  url: string,
  work: (foreign: { database: Database; url: string }) => Promise<Result>,
): Promise<Result> {
  const database = openDatabase({
    url,
    prepared: false,
    maxConnections: 1,
    answerTimeoutMs: QUERY_TIMEOUT_MS,
  });
  try {
    return await work({ database, url });
  } finally {
    await database.close();
  }
}
