import { expect, it } from "vitest";
import { insertEndpoint } from "../../../src/store/outbound/event-endpoints.ts";
import { readEvents } from "../../../src/store/outbound/outbound-list.ts";
import { dropOutbound } from "../../../src/store/outbound/outbound-retention.ts";
import { testDatabase } from "../../support/test-database.ts";

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

it("drops old events, alone or in packs, and remembers up to which", async () => {
  const dropped = async () => {
    const count = await dropOutbound(test.database, { olderThanDays: 30, limit: 2 });
    const [relay] = await test.rows<{ until: number }>(
      "select dropped_until::int as until from outbound_relay",
    );
    return { count, until: relay?.until };
  };
  await test.rows(
    `insert into outbound_event (type, subject, data, position, id, occurred_at)
     select 'user.created', 's', '{}', position, 'evt_' || position, now() - days * interval '1 day'
     from (values (5, 29), (2, 31), (1, 31), (null, 31)) e (position, days)`,
  );
  expect(await dropped()).toEqual({ count: 2, until: 2 });
  await test.rows(
    `insert into outbound_event_pack (first_position, last_position, occurred_at, users, events)
     select position, position, now() - days * interval '1 day', '', '' from (values (6, 29), (4, 31), (3, 31)) p (position, days)`,
  );
  expect(await dropped()).toEqual({ count: 2, until: 4 });
  expect(await dropped()).toEqual({ count: 0, until: 4 });
  // One without a position waits for the relay, however old it is.
  expect(await test.rows("select position::int from outbound_event order by position")).toEqual([
    { position: 5 },
    { position: null },
  ]);
  expect(await test.rows("select last_position::int as last from outbound_event_pack")).toEqual([
    { last: 6 },
  ]);
});

it("lists nothing that is still kept before an event that was dropped", async () => {
  for (const table of ["outbound_event", "outbound_event_pack"]) await test.rows(`delete from ${table}`);
  await test.rows("update outbound_relay set last_position = 6, dropped_until = 4");
  await test.rows(
    `insert into outbound_event (type, subject, data, position, id)
     select 'user.created', 's', '{}', position, 'evt_' || position from unnest(array[3, 5]) position`,
  );
  for (const after of [null, 2n]) {
    const { events } = await readEvents(test.database, { after, limit: 10 });
    expect(events.map(({ id }) => id)).toEqual(["evt_5"]);
  }
});
