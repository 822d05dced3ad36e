import { openDatabase } from "../src/store/database.ts";
import { migrate } from "../src/store/migrate.ts";
import type { Bench } from "./contender.ts";
import { query } from "./postgres.ts";
import { userId } from "./signed-events.ts";

/** A database with Tollgate's tables and the users that the events are about. */
export async function createTollgateDatabase(bench: Bench, name: string): Promise<string> {
  const url = await bench.postgres.createDatabase(name);
  const database = openDatabase({ url, prepared: false, maxConnections: 1, answerTimeoutMs: 60_000 });
  await migrate(database).finally(() => database.close());
  await query(
    url,
    `insert into "user" (id, name, email) select id, 'Bench', id || '@example.com' from unnest($1::text[]) as id`,
    [Array.from({ length: bench.options.subscriptions }, (_, index) => userId(index))],
  );
  return url;
}
