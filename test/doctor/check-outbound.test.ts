import { beforeEach, expect, it } from "vitest";
import { checkOutbound } from "../../src/doctor/check-outbound.ts";
import { outboundState } from "../../src/store/outbound/outbound-state.ts";
import { replayDeliveries } from "../../src/store/outbound/replay-outbound-deliveries.ts";
import { testDatabase } from "../support/test-database.ts";

const test = testDatabase(0);
beforeEach(async () => {
  await test.rows("delete from event_endpoint");
  await test.rows("delete from outbound_event");
});

const find = async () => checkOutbound(await outboundState(test.database));

async function endpoint(columns = "enabled", values = "true"): Promise<string> {
  const [row] = await test.rows<{ id: string }>(
    `insert into event_endpoint (url, secret, types, ${columns}) values ('https://example.com', 's', '{}', ${values}) returning id`,
  );
  return row?.id as string;
}

async function pending(endpointId: string, age: string): Promise<void> {
  await test.rows(
    `insert into outbound_delivery (endpoint_id, event_id, event_type, subject, give_up_at, created_at)
     values ($1, 'evt', 'user.updated', 's', now(), clock_timestamp() - $2::interval)`,
    [endpointId, age],
  );
}

it("checks nothing without an endpoint", async () => {
  expect(await find()).toMatchObject({ state: "skipped", detail: "no endpoint is enabled" });
});

it("counts no plugin's hook as an endpoint, even one that fails", async () => {
  await test.rows(
    "insert into event_endpoint (hook, types, failing_since) values ('crm', '{}', clock_timestamp() - interval '2 hours')",
  );
  expect(await find()).toMatchObject({ state: "skipped", detail: "no endpoint is enabled" });
});

it("reports no problem with endpoints that receive their events", async () => {
  await endpoint();
  await pending(await endpoint(), "1 minute");
  expect(await find()).toMatchObject({ state: "good", detail: "2 enabled, none failing" });
});

it("reports disabled endpoints, but not paused ones", async () => {
  await pending(await endpoint("enabled", "false"), "1 day");
  expect((await find()).state).toBe("skipped");
  await endpoint("enabled, disabled_at", "false, now()");
  expect(await find()).toMatchObject({
    state: "warning",
    detail: "1 endpoint is disabled: it failed for five days or responded with 410",
    remedy: expect.stringContaining("replay"),
  });
});

it("reports endpoints that have failed for an hour", async () => {
  await endpoint("failing_since", "clock_timestamp() - interval '50 minutes'");
  expect((await find()).state).toBe("good");
  for (const hours of [2, 3])
    await endpoint("failing_since", `clock_timestamp() - interval '${hours} hours'`);
  expect(await find()).toMatchObject({
    state: "warning",
    detail: "2 endpoints are failing for an hour or longer",
  });
});

it("reports events that no process sends, relayed or not", async () => {
  await endpoint();
  await test.rows(
    "insert into outbound_event (type, subject, data, occurred_at) values ('user.updated', 's', '{}', now() - interval '20 minutes 30 seconds')",
  );
  expect(await find()).toMatchObject({ state: "warning", detail: "one has waited for 20 minutes" });
  await test.rows("delete from outbound_event");
  await pending(await endpoint(), "65 minutes 30 seconds");
  expect(await find()).toMatchObject({ state: "warning", detail: "one has waited for 65 minutes" });
});

it("names what has waited longest: in a change that is not relayed, or for one of several endpoints", async () => {
  for (const age of ["12 minutes 30 seconds", "1 minute"]) await pending(await endpoint(), age);
  expect((await find()).detail).toBe("one has waited for 12 minutes");
  await test.rows(
    `insert into outbound_change_set (changes_count, occurred_at, created_at, changes)
     values (2, array[extract(epoch from now()) - 1830, extract(epoch from now())], '{0, 0}', '')`,
  );
  expect((await find()).detail).toBe("one has waited for 30 minutes");
  // The relay removes what it has relayed a little later.
  await test.rows("update outbound_relay set relayed_up_to = (select max(seq) from outbound_change_set)");
  expect((await find()).detail).toBe("one has waited for 12 minutes");
  await test.rows("truncate outbound_change_set");
  await test.rows("update outbound_relay set relayed_up_to = 0");
});

it("does not count as waiting what was sent or given up, or is for an endpoint that is paused", async () => {
  await pending(await endpoint("enabled", "false"), "1 day");
  const id = await endpoint();
  for (const status of ["delivered", "failed"])
    await test.rows(
      `insert into outbound_delivery (endpoint_id, event_id, event_type, subject, status, give_up_at, created_at)
       values ($1, 'evt', 'user.updated', 's', $2, now(), now() - interval '1 day')`,
      [id, status],
    );
  expect(await find()).toMatchObject({ state: "good", detail: "1 enabled, none failing" });
});

it("reports changes that could not be read, also without an endpoint", async () => {
  await test.rows(
    "insert into outbound_unreadable_set (seq, changes_count, occurred_at, created_at, changes, error) values (1, 3, '{}', '{}', '', 'cut off')",
  );
  expect(await find()).toMatchObject({ state: "warning", detail: "3 recorded changes could not be read" });
  await test.rows("truncate outbound_unreadable_set");
});

it("reports events that could not be read", async () => {
  await test.rows(
    `with pack as (
       insert into outbound_event_pack (first_position, last_position, occurred_at, users, events)
       values (3, 60, now(), '', '') returning last_position
     )
     insert into outbound_unreadable_pack (last_position, error) select last_position, 'cut off' from pack`,
  );
  expect(await find()).toMatchObject({ state: "warning", detail: "58 stored events could not be read" });
  await test.rows("delete from outbound_event_pack");
});

it("counts a replayed delivery from its replay", async () => {
  const id = await endpoint();
  await test.rows(
    `insert into outbound_event (type, subject, data, position, id, occurred_at)
     values ('user.updated', 's', '{}', 1, 'evt', now() - interval '3 days')`,
  );
  const [failed] = await test.rows<{ id: string }>(
    `insert into outbound_delivery (endpoint_id, event_id, event_type, position, subject, status, give_up_at, created_at)
     values ($1, 'evt', 'user.updated', 1, 's', 'failed', now() + interval '2 days', now() - interval '3 days') returning id`,
    [id],
  );
  expect(await replayDeliveries(test.database, id, [failed?.id as string])).toBe(1);
  expect(await find()).toMatchObject({ state: "good" });
});
