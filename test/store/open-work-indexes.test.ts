import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { numberedEvent } from "../fixtures/numbered-event.ts";
import { freshServer } from "../support/fresh-server.ts";
import { deliverWebhook } from "../support/http.ts";

const { test, server } = freshServer({ users: 20 });
let reader: pg.Client;
beforeAll(async () => {
  reader = new pg.Client({ connectionString: test.url });
  await reader.connect();
});
afterAll(async () => {
  await reader.end();
});

async function entries(): Promise<number> {
  await test.rows("vacuum (index_cleanup on) webhook_delivery");
  await test.rows("analyze webhook_delivery");
  const [row] = await test.rows<{ entries: number }>(
    `select sum(reltuples)::int as entries from pg_class
     where relname in ('webhook_delivery_failed', 'webhook_delivery_leased')`,
  );
  return row?.entries ?? -1;
}

it("leaves no entry of a first delivery in the indexes of open work, even while an old snapshot is held", async () => {
  await reader.query("begin isolation level repeatable read");
  await reader.query("select count(*) from webhook_delivery");
  for (let first = 0; first < 400; first += 50) {
    const numbers = Array.from({ length: 50 }, (_, index) => first + index);
    const responses = await Promise.all(
      numbers.map((n) => deliverWebhook(server.url, "provider-a", numberedEvent("snapshot", n))),
    );
    expect(responses.map(({ status }) => status)).toEqual(numbers.map(() => 200));
  }
  expect(await test.rows("select count(*)::int as count from webhook_delivery")).toEqual([{ count: 400 }]);
  expect(await entries()).toBe(0);
  await reader.query("rollback");
});
