import { beforeAll, expect, it } from "vitest";
import type { Queryable } from "../../../src/store/database.ts";
import { listLoggedDeliveries } from "../../../src/store/deliveries/delivery-log.ts";
import { testDatabase } from "../../support/test-database.ts";

/** More than one page of the log reads. */
const MANY = 20_100;
const FILTER = { provider: null, status: null, type: "rare", eventId: null, subscriptionId: null };

const test = testDatabase(0);
beforeAll(async () => {
  await receive(MANY, "common");
  // Within the last 100 of those that the first page reads.
  await test.rows("update webhook_delivery set event_type = 'rare' where id between 101 and 103");
});

function receive(count: number, type: string): Promise<unknown> {
  return test.rows(
    `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source)
     select 'provider-a', gen_random_uuid(), $2, 'stripe', 'successful', 'delivery' from generate_series(1, $1::int)`,
    [count, type],
  );
}

/** A database that receives deliveries after each statement. */
function busy(database: Queryable): Queryable {
  return {
    ...database,
    run: async (...call: Parameters<Queryable["run"]>) => {
      const rows = await database.run(...call);
      await receive(90, "common");
      return rows;
    },
  } as Queryable;
}

it("lists each delivery once, however many arrive while a page is read", async () => {
  const database = busy(test.database);
  const ids: string[] = [];
  let before: string | null = null;
  do {
    const page = await listLoggedDeliveries(database, FILTER, { before, limit: 10 });
    ids.push(...page.deliveries.map(({ id }) => id));
    before = page.next;
  } while (before !== null);
  expect(ids).toEqual(["103", "102", "101"]);
});
