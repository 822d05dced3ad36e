import { beforeAll, describe, expect, it } from "vitest";
import { newestDeliveries } from "../../src/cli/commands/newest-deliveries.ts";
import { OPERATOR } from "../../src/domain/callers/caller.ts";
import { listDeliveries } from "../../src/operations/webhooks/list-deliveries.ts";
import { testDatabase } from "../support/test-database.ts";

const test = testDatabase(0);
beforeAll(async () => {
  // 45,000 deliveries: every 9,000th is another user's, and every 10,000th has failed.
  await test.rows(
    `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, payload)
     select case when n % 9000 = 0 then 'provider-b' else 'provider-a' end, n::text,
       case when n % 7 = 0 then 'seventh' else 'other' end, 'stripe',
       case when n % 10000 = 0 then 'failed' else 'successful' end, 'delivery', '{}'
     from generate_series(1, 45000) n`,
  );
});

/** Event ids of all pages, and how many pages there were. */
async function pages(input: object) {
  const eventIds: string[][] = [];
  let cursor: string | null = null;
  do {
    const page = await listDeliveries.run(
      test,
      OPERATOR,
      listDeliveries.input.parse({ ...input, cursor }),
      {},
    );
    eventIds.push(page.items.map((item) => item.eventId));
    cursor = page.nextCursor;
  } while (cursor !== null);
  return eventIds;
}

describe("the delivery log in pages", () => {
  it("contains every delivery exactly once", async () => {
    const all = await pages({ limit: 100, type: "seventh" });
    expect(all.flat()).toEqual(Array.from({ length: 6428 }, (_, index) => String((6428 - index) * 7)));
  });

  it("ends without a cursor, also where the last page is full", async () => {
    expect(await pages({ status: "failed", limit: 2 })).toEqual([
      ["40000", "30000"],
      ["20000", "10000"],
    ]);
    expect((await pages({ limit: 100 })).map((page) => page.length)).toEqual(Array(450).fill(100));
  });

  it("scans a bounded part of the log per page, and continues from there", async () => {
    expect(await pages({ provider: "provider-b" })).toEqual([
      ["45000", "36000", "27000"],
      ["18000", "9000"],
      [],
    ]);
    expect(await pages({ status: "pending" })).toEqual([[]]);
  });

  it("is read in pages by the command line up to the limit, and continued from a cursor", async () => {
    const filter = { provider: "provider-b", status: null } as const;
    const first = await newestDeliveries(test, filter, { limit: 4 });
    expect(first.items.map((item) => item.eventId)).toEqual(["45000", "36000", "27000", "18000"]);
    const secondPage = await newestDeliveries(test, filter, { limit: 4, cursor: first.nextCursor as string });
    expect(secondPage.items.map((item) => item.eventId)).toEqual(["9000"]);
    expect(secondPage.nextCursor).toBeNull();
  });
});
