import { openDatabase } from "../src/store/database.ts";
import { migrate } from "../src/store/migrate.ts";
import type { Postgres } from "./postgres.ts";
import { query } from "./postgres.ts";
import { SUBSCRIPTIONS, userId } from "./signed-events.ts";

/** A database with Tollgate's tables and the users that the events are about. */
export async function createTollgateDatabase(postgres: Postgres, name: string): Promise<string> {
  const url = await postgres.createDatabase(name);
  const database = openDatabase({ url, prepared: false, maxConnections: 1, answerTimeoutMs: 60_000 });
  await migrate(database).finally(() => database.close());
  await query(
    url,
    `insert into "user" (id, name, email) select id, 'Bench', id || '@example.com' from unnest($1::text[]) as id`,
    [Array.from({ length: SUBSCRIPTIONS }, (_, index) => userId(index))],
  );
  return url;
}
