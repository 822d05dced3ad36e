import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { explainingQueryable, rowsRead, scansOf } from "../../support/explain.ts";
import { type LogExample, logQueries } from "../../support/log-queries.ts";
import { testDatabase } from "../../support/test-database.ts";

const ROWS = 200_000;
const SUBSCRIPTIONS = 20_000;
const FAILED_EVERY = 10_000;
const LOG_TABLES = ["webhook_delivery", "webhook_attempt"];

/** A page or a sample reads at most 20,000 rows; reading the log would be ten times as many. */
const MAX_ROWS_READ = 25_000;

const test = testDatabase(1);
let client: pg.Client;
beforeAll(async () => {
  client = new pg.Client({ connectionString: test.url });
  await client.connect();
  // One delivery every five minutes for two years: a day is a small part of the log.
  await client.query(
    `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, claimed_at, received_at,
       completed_at, last_error, next_attempt_at, payload, first_source, first_outcome, first_duration_ms,
       first_subscription_id)
     select 'provider-a', 'evt_' || n, 'customer.subscription.updated', 'stripe', outcome, 'delivery', at, at, at,
       case outcome when 'failed' then 'user: none' end,
       case outcome when 'failed' then now() + interval '1 hour' end, '{}', 'delivery', outcome, 1,
       lpad(to_hex(n % ${SUBSCRIPTIONS}), 32, '0')::uuid
     from (
       select n, now() - (${ROWS} - n) * interval '5 minutes' as at,
         case n % ${FAILED_EVERY} when 0 then 'failed' else 'successful' end as outcome
       from generate_series(1, ${ROWS}) n
     ) past`,
  );
  await client.query("analyze webhook_delivery");
}, 120_000);
afterAll(() => client.end());

async function example(): Promise<LogExample> {
  const [row] = await test.rows<LogExample>(
    `select max(id) filter (where status = 'successful')::text as id, max(id) filter (where status = 'failed')::text as "failedId",
       'evt_77' as "eventId", lpad(to_hex(77), 32, '0')::uuid::text as "subscriptionId"
     from webhook_delivery`,
  );
  return row as LogExample;
}

it.each(Object.keys(logQueries({ id: "", eventId: "", subscriptionId: "", failedId: "" })))(
  "reads a bounded part of the log through an index: %s",
  async (name) => {
    const queryable = explainingQueryable(client);
    await logQueries(await example())[name]?.(queryable);
    expect(queryable.explained.length).toBeGreaterThan(0);
    for (const { name: statement, plan } of queryable.explained) {
      const scans = scansOf(plan).filter((scan) => LOG_TABLES.includes(scan["Relation Name"] ?? ""));
      const log = scans.filter((scan) => scan["Relation Name"] === "webhook_delivery");
      expect(
        log.map((scan) => scan["Node Type"]),
        statement,
      ).not.toContain("Seq Scan");
      const read = scans.reduce((sum, scan) => sum + rowsRead(scan), 0);
      expect(read, statement).toBeLessThan(3 * MAX_ROWS_READ);
      expect(Math.max(0, ...scans.map(rowsRead)), statement).toBeLessThan(MAX_ROWS_READ);
    }
  },
);
