import { expect, it } from "vitest";
import { insertEndpoint } from "../../../src/store/outbound/event-endpoints.ts";
import { listOutboundDeliveries } from "../../../src/store/outbound/list-outbound-deliveries.ts";
import { testDatabase } from "../../support/test-database.ts";

const test = testDatabase(0);

it("lists the deliveries of one endpoint page by page, the newest first, with their attempts in order", async () => {
  const addEndpoint = (url: string) => {
    const endpoint = { url, types: ["user.updated"], description: null, secret: "whsec_x", createdBy: null };
    return insertEndpoint(test.database, endpoint);
  };
  const first = await addEndpoint("https://example.com/a");
  const other = await addEndpoint("https://example.com/b");
  for (const { id } of [first, other])
    await test.rows(
      `insert into outbound_delivery (endpoint_id, event_id, event_type, subject, status, give_up_at)
       select $1, 'evt_' || n, 'user.updated', 's', case n when 2 then 'failed' else 'delivered' end, now()
       from generate_series(1, 3) n order by n`,
      [id],
    );
  await test.rows(
    `insert into outbound_attempt (delivery_id, attempt, duration_ms)
     select id, attempt, 1 from outbound_delivery cross join unnest(array[3, 1, 2]) attempt`,
  );
  const page = (before: string | null, status: string | null = null) =>
    listOutboundDeliveries(test.database, first.id, { before, limit: 2, status });
  const newest = await page(null);
  const oldest = await page(newest.at(-1)?.id ?? null);
  expect([...newest, ...oldest].map(({ eventId }) => eventId)).toEqual(["evt_3", "evt_2", "evt_1"]);
  for (const { attempts } of newest) expect(attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  expect((await page(null, "failed")).map(({ eventId }) => eventId)).toEqual(["evt_2"]);
});
