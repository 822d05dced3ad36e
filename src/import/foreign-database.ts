import { type Database, openDatabase } from "../store/database.ts";

const ANSWER_WITHIN_MS = 60_000;

/** Reads another system's PostgreSQL. */
export async function withForeignDatabase<Result>(
  url: string | undefined,
  work: (foreign: { database: Database; url: string }) => Promise<Result>,
): Promise<Result> {
  if (url === undefined)
    throw new Error("--database-url: missing, for example postgres://user@localhost/old");
  if (!/^postgres(ql)?:\/\//.test(url)) throw new Error("--database-url: expected postgres://...");
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
