import { expect, it } from "vitest";
import { deleteUser } from "../../src/operations/users/delete-user.ts";
import { createEventFeed, newestEventId } from "../../src/outbound/event-feed.ts";
import { relayEvents } from "../../src/outbound/relay.ts";
import { createTestContext, session } from "../operations/test-context.ts";
import { eventually } from "../support/eventually.ts";
import { testDatabase } from "../support/test-database.ts";
import { ACCESS_CONTEXT } from "./access-context.ts";

const test = testDatabase(2);
const log = { warn() {}, error() {} };

it("sends nothing of a person who was deleted while no stream was open", async () => {
  const { database } = test;
  await relayEvents({ database, ...ACCESS_CONTEXT });
  const newest = await newestEventId({ database, log });
  const feed = createEventFeed({ database, log, everyMs: 10 });
  const { signal } = new AbortController();
  const first = feed.after(newest, signal);
  await test.rows(`update "user" set external_id = 'customer-17' where id = 'user_1'`);
  await relayEvents({ database, ...ACCESS_CONTEXT });
  expect((await first)?.map(({ body }) => JSON.parse(body).data)).toEqual([
    { id: "user_1", externalId: "customer-17" },
  ]);
  await eventually(async () => feed.isPolling(), false);
  const [{ email } = { email: "" }] = await test.rows<{ email: string }>(
    `select email from "user" where id = 'user_1'`,
  );
  await createTestContext(test).call(deleteUser, session("user_0", "admin"), {
    userId: "user_1",
    confirmation: email,
  });
  expect((await feed.after(newest, signal))?.map(({ body }) => JSON.parse(body).data)).toEqual([
    { id: "user_1", externalId: null },
  ]);
  feed.stop();
});

it("ends a waiting stream whose last events were lost in a failover, when others have their positions", async () => {
  const { database } = test;
  await relayEvents({ database, ...ACCESS_CONTEXT });
  const newest = await newestEventId({ database, log });
  const feed = createEventFeed({ database, log, everyMs: 10 });
  const next = feed.after(newest, new AbortController().signal);
  await eventually(async () => feed.isPolling(), true);
  await test.rows("update outbound_event set id = overlay(id placing '000000000000' from 17) where id = $1", [
    newest,
  ]);
  await test.rows(`update "user" set external_id = 'customer-18' where id = 'user_0'`);
  await relayEvents({ database, ...ACCESS_CONTEXT });
  expect(await next).toBeNull();
  feed.stop();
});

it("ends the wait of a stream whose client has gone, and reads no further for it", async () => {
  const { database } = test;
  await relayEvents({ database, ...ACCESS_CONTEXT });
  const feed = createEventFeed({ database, log, everyMs: 10 });
  const client = new AbortController();
  const next = feed.after(await newestEventId({ database, log }), client.signal);
  await eventually(async () => feed.isPolling(), true);
  client.abort();
  expect(await next).toBeNull();
  await eventually(async () => feed.isPolling(), false);
  feed.stop();
});
