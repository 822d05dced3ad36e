import { readdir, readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { migrate } from "../../src/store/migrate.ts";
import { addUsers, emptyDatabase, type TestDatabase } from "../support/database.ts";

const FOLDER = new URL("../../src/store/migrations/", import.meta.url);
const ROWS = 200_000;

let test: TestDatabase;
beforeAll(async () => {
  test = await emptyDatabase();
  const connection = await test.database.connection();
  await connection.script(
    "create table schema_migration (name text primary key, applied_at timestamptz not null default now())",
  );
  for (const name of (await readdir(FOLDER)).sort().filter((fileName) => fileName < "0010")) {
    await connection.script(await readFile(new URL(name, FOLDER), "utf8"));
    await connection.script(`insert into schema_migration (name) values ('${name}')`);
  }
  connection.release({ healthy: true });
  await addUsers(test, 20);
  await test.rows(
    `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, payload)
     select 'provider-a', 'old-' || n, 'x', 'stripe', 'successful', 'delivery', '{}' from generate_series(1, ${ROWS}) n`,
  );
  await test.rows(
    `insert into webhook_attempt (delivery_id, claim_no, source, outcome, started_at, duration_ms)
     select id, 1, 'delivery', 'successful', now(), 1 from webhook_delivery`,
  );
  await test.rows(
    `insert into subscription (id, user_id, provider, provider_subscription_id, plan_id, seats, status, cancel_at_period_end, out_of_order)
     select gen_random_uuid(), 'user_' || n % 20, 'provider-a', 'old-' || n, 'team', 1, 'active', false, false
     from generate_series(1, 5000) n`,
  );
}, 120_000);
afterAll(() => test.drop());

// How the previous release claims a delivery, writes its attempt and answers a repeat.
const CLAIM = `
  insert into webhook_delivery as d (provider, event_id, event_type, format, status, claim_source, lease_until, payload)
  values ('provider-a', $1, 'x', 'stripe', 'pending', 'delivery', clock_timestamp() + interval '30 seconds', '{}')
  on conflict (provider, event_id) do update set claim_no = d.claim_no + 1 where d.status = 'failed'
  returning id`;
const APPLY = `
  with held as (
    update webhook_delivery set status = 'successful', lease_until = null, completed_at = clock_timestamp()
    where id = $1::bigint and claim_no = 1 and status = 'pending' returning id
  )
  insert into webhook_attempt (delivery_id, claim_no, source, outcome, started_at, duration_ms)
  select id, 1, 'delivery', 'successful', now(), 1 from held returning delivery_id`;

it("migrates the previous release's database while that release keeps ingesting events", {
  timeout: 180_000,
}, async () => {
  const files = () =>
    test.rows(`select relname, relfilenode::text from pg_class
      where relname in ('webhook_delivery', 'webhook_attempt', 'subscription', 'webhook_delivery_pkey') order by 1`);
  const before = await files();
  let over = false;
  let inserted = 0;
  const sender = (async () => {
    for (let n = 0; !over || n < 50; n += 1) {
      const [row] = await test.rows<{ id: string }>(CLAIM, [`during-${n}`]);
      expect(await test.rows(APPLY, [row?.id])).toHaveLength(1);
      expect(await test.rows(CLAIM, [`during-${n}`])).toEqual([]);
      inserted += 1;
    }
  })();
  await migrate(test.database);
  over = true;
  await sender;

  // No table and none of its own indexes was rewritten.
  expect(await files()).toEqual(before);
  expect(await test.rows("select count(*)::int from webhook_attempts where outcome = 'successful'")).toEqual([
    { count: ROWS + inserted },
  ]);
  expect(
    await test.rows(
      `select i.relname as index, x.indisvalid as valid, x.indisunique as unique,
         array(select opcname::text from unnest(x.indclass) with ordinality k (oid, at) join pg_opclass o using (oid) order by at) as classes
       from pg_index x join pg_class i on i.oid = x.indexrelid
       where i.relname in ('webhook_delivery_once', 'subscription_named_once') order by 1`,
    ),
  ).toEqual([
    {
      index: "subscription_named_once",
      valid: true,
      unique: true,
      classes: ["text_pattern_ops", "text_pattern_ops"],
    },
    {
      index: "webhook_delivery_once",
      valid: true,
      unique: true,
      classes: ["text_pattern_ops", "text_pattern_ops"],
    },
  ]);
});

it("waits for a transaction that locks a table, without blocking others", {
  timeout: 120_000,
}, async () => {
  const connection = await test.database.connection();
  await test.rows("delete from schema_migration where name = '0018_analyze_keys.sql'");
  await connection.script("begin; lock table subscription in share update exclusive mode");
  const migrating = migrate(test.database);
  await expect
    .poll(
      () =>
        test.rows(
          "select from pg_stat_activity where query like '%analyze webhook%' and wait_event_type = 'Lock'",
        ),
      { timeout: 60_000 },
    )
    .toHaveLength(1);
  await connection.script("commit");
  connection.release({ healthy: true });
  expect(await migrating).toEqual(["0018_analyze_keys.sql"]);
});
