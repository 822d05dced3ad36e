import { createMigratedDatabase } from "../shared/migrated-database.ts";
import { query } from "../shared/postgres.ts";
import type { Bench } from "./contender.ts";
import { userId } from "./signed-events.ts";

/** A database with Tollgate's tables and the users that the events are about. */
export async function createTollgateDatabase(bench: Bench, name: string, root?: string): Promise<string> {
  const url = await createMigratedDatabase(bench.postgres, name, root);
  await query(
    url,
    `insert into "user" (id, name, email) select id, 'Bench', id || '@example.com' from unnest($1::text[]) as id`,
    [Array.from({ length: bench.options.subscriptions }, (_, index) => userId(index))],
  );
  return url;
}
