import { type Database, openDatabase } from "../store/database.ts";

const ANSWER_WITHIN_MS = 60_000;

/** Reads another system's PostgreSQL. */
export async function withForeignDatabase<Result>(
  url: string,
  work: (foreign: { database: Database; url: string }) => Promise<Result>,
): Promise<Result> {
  const database = openDatabase({
    url,
    prepared: false,
    maxConnections: 1,
    answerTimeoutMs: ANSWER_WITHIN_MS,
  });
  try {
    return await work({ database, url });
  } finally {
    await database.close();
  }
}
