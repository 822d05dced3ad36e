import { afterAll, beforeAll, expect, it } from "vitest";
import { type Database, openDatabase } from "../../src/store/database.ts";
import { findApiKeys } from "../../src/store/keys/api-keys.ts";
import { findSessions } from "../../src/store/sign-in/sessions.ts";
import { testDatabase } from "../support/test-database.ts";

const TABLES = ["session", "api_key", '"user"'];
const GROWN = 30_000;

const test = testDatabase(0);
// Of one connection, which can be made to report what it has read.
let database: Database;
beforeAll(async () => {
  for (const table of TABLES) await test.rows(`alter table ${table} set (autovacuum_enabled = false)`);
  database = openDatabase({ url: test.url, prepared: true, maxConnections: 1, answerTimeoutMs: 30_000 });
});
afterAll(() => database.close());

// Unlike deliveries, users do not arrive by thousands a second: autovacuum keeps up, and new statistics end
// old plans.
it("account queries planned on small tables use indexes once the tables have grown", async () => {
  await grow(0, 5);
  for (const table of TABLES) await test.rows(`vacuum analyze ${table}`);
  // PostgreSQL caches a generic plan after a statement's fifth run.
  for (let n = 0; n < 20; n += 1) await lookUps(n % 5);
  await grow(5, GROWN);
  for (const table of TABLES) await test.rows(`analyze ${table}`);

  const before = await touched();
  for (let n = 0; n < 50; n += 1) await lookUps(n * 100);
  expect((await touched()) - before).toBeLessThan(50 * 200);
});

async function lookUps(n: number): Promise<void> {
  const some = Array.from({ length: 1 + (n % 4) }, (_, more) => n + more);
  await findSessions(
    database,
    some.map((n) => `token_${n}`),
  );
  await findApiKeys(
    database,
    some.map((n) => `tg_${n}`),
  );
}

async function grow(from: number, to: number): Promise<void> {
  const inserts = {
    grow_users: `insert into "user" (id, name, email) select 'user_' || n, 'User', 'user_' || n || '@example.com'`,
    grow_sessions: `insert into session (id, user_id, token, expires_at) select 's_' || n, 'user_' || n, 'token_' || n, now()`,
    grow_keys: `insert into api_key (id, user_id, name, prefix, hash)
      select gen_random_uuid(), 'user_' || n, 'x', 'tg_' || n, sha256(n::text::bytea)`,
  };
  for (const [name, insert] of Object.entries(inserts)) {
    await database.run({ name, text: `${insert} from generate_series($1::int, $2::int - 1) n` }, [from, to]);
  }
}

/** How many rows and index entries have been read. */
async function touched(): Promise<number> {
  // Otherwise PostgreSQL may wait with it for ten seconds.
  await database.run({ name: "report_statistics", text: "select pg_stat_force_next_flush()" });
  const [row] = await test.rows<{ rows: number }>(
    `select (sum(t.seq_tup_read) + (select sum(i.idx_tup_read) from pg_stat_user_indexes i
       where i.relname in ('session', 'api_key', 'user')))::float8 as rows
     from pg_stat_user_tables t where t.relname in ('session', 'api_key', 'user')`,
  );
  return row?.rows ?? 0;
}
