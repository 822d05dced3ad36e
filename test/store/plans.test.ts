import { afterAll, beforeAll, expect, it } from "vitest";
import type { RunningServer } from "../../src/server.ts";
import { fixtureDelivery } from "../fixtures/fixture.ts";
import { numberedEvent } from "../fixtures/numbered-event.ts";
import { eventually } from "../support/eventually.ts";
import { deliverWebhook } from "../support/http.ts";
import { startTestServer } from "../support/server.ts";
import { testDatabase } from "../support/test-database.ts";
import { SECRETS } from "../support/variables.ts";

const TABLES = ["webhook_delivery", "webhook_attempt", "subscription", '"user"'];
const LOGGED = 50_000;

const test = testDatabase();
let server: RunningServer;
beforeAll(async () => {
  for (const table of TABLES) await test.rows(`alter table ${table} set (autovacuum_enabled = false)`);
  server = await startTestServer(test.url);
});
afterAll(() => server.close());

it("query plans cached on small tables still use indexes after the tables have grown", {
  timeout: 120_000,
}, async () => {
  for (let n = 0; n < 3; n += 1) await deliverWebhook(server.url, "provider-a", numberedEvent("tiny", n));
  for (const table of TABLES) await test.rows(`vacuum analyze ${table}`);
  // PostgreSQL caches a generic plan after a statement's fifth run.
  for (let n = 0; n < 40; n += 1) await story(n);
  await grow();

  const before = await touched();
  const rounds = 20;
  for (let n = 100; n < 100 + rounds; n += 1) await story(n);
  // A connection that stays open may report what it has read as late as ten seconds afterwards.
  await server.close();
  await eventually(connections, 1);
  for (const [table, rows] of await touched()) {
    const read = rows - (before.get(table) ?? 0);
    expect(read, table).toBeGreaterThan(0);
    expect(read, table).toBeLessThan(rounds * 200);
  }
});

/** First deliveries, repeats, failures and links of every kind. */
async function story(n: number): Promise<void> {
  const facts = {
    secret: SECRETS["provider-a"],
    nowSeconds: Math.floor(Date.now() / 1000),
    subscriptionId: `story-${n}`,
    customerId: `story-${n}`,
    planId: "team",
  };
  const created = fixtureDelivery("stripe", "customer.subscription.created", {
    ...facts,
    eventId: `story-${n}-created`,
    userId: `user_${n % 20}`,
  });
  const unlinked = fixtureDelivery("stripe", "customer.subscription.updated", {
    ...facts,
    eventId: `story-${n}-updated`,
    userId: null,
    seats: 9,
  });
  const failing = fixtureDelivery("stripe", "customer.subscription.updated", {
    ...facts,
    eventId: `story-${n}-failing`,
    userId: "nobody",
  });
  for (const delivery of [created, created, unlinked]) {
    expect((await deliverWebhook(server.url, "provider-a", delivery)).status).toBe(200);
  }
  expect((await deliverWebhook(server.url, "provider-a", failing)).status).toBe(500);
}

async function grow(): Promise<void> {
  const insert = (text: string) =>
    // Reported at once: PostgreSQL may wait ten seconds with what the foreign keys' checks have read.
    test.rows(`with grown as (${text}) select pg_stat_force_next_flush()`, [LOGGED]);
  await insert(
    `insert into "user" (id, name, email) select 'more_' || n, 'More', 'more_' || n || '@example.com' from generate_series(1, $1::int) n`,
  );
  await insert(
    `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, payload)
     select 'provider-a', 'more_' || n, 'x', 'stripe', 'successful', 'delivery', '{}' from generate_series(1, $1::int) n`,
  );
  await insert(
    `insert into subscription (id, user_id, provider, provider_subscription_id, customer_id, plan_id, seats, status,
       cancel_at_period_end, out_of_order)
     select gen_random_uuid(), 'more_' || n, 'provider-a', 'more_' || n, 'more_' || n, 'pro', 1, 'active', false, false
     from generate_series(1, $1::int) n`,
  );
}

/** How many there are to this test's database, the test's own included. */
async function connections(): Promise<number | undefined> {
  const [row] = await test.rows<{ count: number }>(
    "select count(*)::int as count from pg_stat_activity where datname = current_database()",
  );
  return row?.count;
}

/** How many rows and index entries have been read, by table. */
async function touched(): Promise<Map<string, number>> {
  const rows = await test.rows<{ name: string; rows: number }>(
    `select t.relname as name, (t.seq_tup_read + coalesce(sum(i.idx_tup_read), 0))::float8 as rows
     from pg_stat_user_tables t join pg_stat_user_indexes i on i.relid = t.relid
     where t.relname in ('webhook_delivery', 'subscription', 'user') group by t.relid, t.relname, t.seq_tup_read`,
  );
  return new Map(rows.map((row) => [row.name, row.rows]));
}
