import { expect, it } from "vitest";
import { insertEndpoint } from "../../src/store/event-endpoints.ts";
import { dropOutbound } from "../../src/store/outbound-retention.ts";
import { testDatabase } from "../support/test-database.ts";

const test = testDatabase(0);

it("drops the log of old deliveries with their attempts, but none that is still to be sent", async () => {
  const { id } = await insertEndpoint(test.database, {
    url: "https://example.com/hook",
    types: ["user.created"],
    description: null,
    secret: "whsec_x",
    createdBy: null,
  });
  await test.rows(
    `with delivery as (
       insert into outbound_delivery (endpoint_id, event_id, event_type, subject, status, give_up_at, created_at)
       select $1::uuid, status || ' ' || days, 'user.created', 's', status, now(), now() - days * interval '1 day'
       from unnest(array[29, 31]) days cross join unnest(array['pending', 'delivered', 'failed']) status
       returning id
     )
     insert into outbound_attempt (delivery_id, attempt, duration_ms) select id, 1, 1 from delivery`,
    [id],
  );
  expect(await dropOutbound(test.database, { olderThanDays: 30, limit: 10 })).toBe(2);
  const kept = await test.rows("select event_id as event from outbound_delivery order by 1");
  expect(kept.map(({ event }) => event)).toEqual(["delivered 29", "failed 29", "pending 29", "pending 31"]);
  expect(await test.rows("select from outbound_attempt")).toHaveLength(4);
});
