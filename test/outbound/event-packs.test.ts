import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import plans from "../../plans.config.ts";
import { endGrace } from "../../src/billing/end-grace.ts";
import { deleteUser } from "../../src/operations/users/delete-user.ts";
import { outboundAllow } from "../../src/outbound/allowed-targets.ts";
import { createDispatcher } from "../../src/outbound/dispatcher.ts";
import { outboundEvent } from "../../src/outbound/event-body.ts";
import { relayEvents } from "../../src/outbound/relay.ts";
import { newEndpointSecret } from "../../src/outbound/sign.ts";
import { insertEndpoint } from "../../src/store/outbound/event-endpoints.ts";
import { readEvents } from "../../src/store/outbound/outbound-list.ts";
import { dropOutbound } from "../../src/store/outbound/outbound-retention.ts";
import { redactPacksOfUser } from "../../src/store/outbound/redact-event-packs.ts";
import { replayDeliveries } from "../../src/store/outbound/replay-outbound-deliveries.ts";
import { inTransaction } from "../../src/store/transaction.ts";
import { createTestContext, session } from "../operations/test-context.ts";
import { freshDatabase, type TestDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { storedEvents } from "../support/stored-events.ts";
import { ACCESS_CONTEXT } from "./access-context.ts";
import { changePlans, LONG_LIMITS, startWithSubscriptions } from "./change-plans.ts";
import { startReceiver } from "./receiver.ts";

const USERS = 60;
let test: TestDatabase;
beforeAll(async () => {
  // Tests delete some.
  test = await freshDatabase(USERS + 3);
  await test.rows(`update "user" set external_id = 'external-' || id`);
});
afterAll(() => test.drop());
beforeEach(async () => {
  await startWithSubscriptions(test, USERS);
});

const relay = () => relayEvents({ database: test.database, ...ACCESS_CONTEXT });
const packs = () => test.rows<{ first: string; last: string }>(PACKS);
const PACKS = `select first_position as first, last_position as last from outbound_event_pack order by last_position`;
const singles = () => test.rows("select position from outbound_event where position is not null");

async function readInPagesOf(limit: number, from: bigint | null = null) {
  const read = [];
  for (let after = from; ; ) {
    const { events } = await readEvents(test.database, { after, limit });
    read.push(...events);
    if (events.length < limit) return read;
    after = events.at(-1)?.position ?? null;
  }
}

it("lists the same events in pages of any size, packed or not", async () => {
  await changePlans(test);
  await relay();
  await test.rows(`update "user" set name = name || '.' where id in ('user_1', 'user_2')`);
  await relay();
  await changePlans(test);
  await relay();
  expect(await singles()).toHaveLength(2);
  const events = await readInPagesOf(100);
  expect(events).toHaveLength(4 * USERS + 2);
  expect((await packs()).length).toBeGreaterThan(3);
  const [first] = events;
  expect(events.map(({ position }) => position)).toEqual(
    events.map((_, index) => (first?.position as bigint) + BigInt(index)),
  );
  for (const size of [1, 7, 59, 1_000]) expect(await readInPagesOf(size)).toEqual(events);
  for (const at of [0, 48, 59, 60, 119, 120, 121, 122, 200, 241]) {
    const { position, id } = events[at] as (typeof events)[number];
    expect(await readEvents(test.database, { after: position, limit: 0 })).toMatchObject({ afterId: id });
    expect(await readInPagesOf(100, position)).toEqual(events.slice(at + 1));
  }
});

it("relays a backlog of several batches in the order in which it was written", async () => {
  const rounds = 12;
  for (let round = 0; round < rounds; round += 1) {
    await changePlans(test);
    await test.rows(`update "user" set name = name || '.' where id = 'user_1'`);
  }
  expect(await relay()).toBe(rounds * (2 * USERS + 1));
  const types = (await storedEvents(test)).map(({ type }) => type);
  const round = [
    ...Array.from({ length: USERS }, () => ["subscription.changed", "entitlements.changed"]).flat(),
    "user.updated",
  ];
  expect(types).toEqual(Array.from({ length: rounds }, () => round).flat());
});

it("packs an event as it would have been stored by itself", async () => {
  const few = 20;
  await changePlans(test, { limit: few });
  await test.rows("create table written as select * from outbound_change_set");
  await relay();
  expect(await packs()).toEqual([]);
  const alone = await readInPagesOf(100);
  expect(alone).toHaveLength(2 * few);

  await test.rows("truncate outbound_event");
  await test.rows(
    "insert into outbound_change_set (changes_count, occurred_at, created_at, changes) select changes_count, occurred_at, created_at, changes from written",
  );
  await changePlans(test, { offset: few });
  await relay();
  expect(await singles()).toEqual([]);
  const packed = await readInPagesOf(100);
  const published = ({ type, occurredAt, data }: (typeof packed)[number]) =>
    JSON.stringify({ type, occurredAt, data });
  expect(packed.slice(0, 2 * few).map(published)).toEqual(alone.map(published));
});

it("sends an endpoint the events of packs as they are listed, again when they are replayed, and logs a pack that cannot be read", async () => {
  const endpoint = await startReceiver();
  const { id } = await insertEndpoint(test.database, {
    url: endpoint.url,
    description: null,
    createdBy: null,
    secret: newEndpointSecret(),
    types: ["subscription.changed"],
  });
  await changePlans(test);
  await relay();
  expect(await singles()).toEqual([]);
  const errors: unknown[] = [];
  const dispatcher = createDispatcher({
    database: test.database,
    allow: outboundAllow({ hosts: [], ranges: ["127.0.0.0/8"] }),
    hooks: new Map(),
    log: { warn() {}, error: (facts) => errors.push(facts) },
    now: Date.now,
  });
  const sendAll = async () => {
    while ((await dispatcher.dispatch()) > 0) await dispatcher.idle();
  };
  await sendAll();
  const listed = (await readInPagesOf(100)).filter(({ type }) => type === "subscription.changed");
  const bodies = (events: readonly Parameters<typeof outboundEvent>[0][]) =>
    events.map(({ id, type, occurredAt, data }) =>
      JSON.stringify(outboundEvent({ id, type, occurredAt, data })),
    );
  const sent = endpoint.received.map(({ body }) => body);
  expect(sent).toHaveLength(USERS);
  expect(sent.toSorted()).toEqual(bodies(listed).toSorted());

  const [delivery] = await test.rows<{ id: string; event_id: string }>(
    "select id::text, event_id from outbound_delivery order by id limit 1",
  );
  const ids = [delivery?.id as string];
  const replayed = await inTransaction(test.database, LONG_LIMITS, async (transaction) => {
    const done = replayDeliveries(transaction, id, ids);
    await done;
    await transaction.commitAfter([]);
    return done;
  });
  expect(replayed).toBe(1);
  await sendAll();
  expect(endpoint.received.at(-1)?.event.id).toBe(delivery?.event_id);
  await test.rows("update outbound_event_pack set events = '\\x00'");
  await test.rows(
    "update outbound_delivery set status = 'pending', next_attempt_at = now(), completed_at = null",
  );
  await sendAll();
  expect(errors[0]).toEqual({ packs: expect.any(Array) });
  await dispatcher.stop();
  await endpoint.close();
});

it("redacts a deleted user's events in packs, and nobody else's", async () => {
  await changePlans(test);
  await relay();
  await changePlans(test);
  await relay();
  const before = await readInPagesOf(100);
  const own = (event: (typeof before)[number]) => event.data.userId === "user_7";
  expect(before.filter(own)).toHaveLength(4);
  await test.rows("update subscription set status = 'canceled' where user_id = 'user_7'");
  await createTestContext(test).call(deleteUser, session("user_0", "admin"), {
    userId: "user_7",
    confirmation: "user_7@example.com",
  });
  const after = await readInPagesOf(100);
  expect(after).toEqual(
    before.map((event) => {
      if (!own(event)) return event;
      const { subscription, ...data } = event.data;
      const redacted = subscription ? { subscription: { ...subscription, userId: null } } : {};
      return { ...event, data: { ...data, userId: null, externalId: null, ...redacted } };
    }),
  );
});

const BLOCKED = `select from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`;

it("redacts two users in one pack who are deleted at the same time", async () => {
  await changePlans(test);
  await relay();
  // All of the first pack: subscriptions are in a random order.
  const events = await readInPagesOf(100);
  const [first, second, neighbor] = [0, 4, 8].map((index) => String(events[index]?.data.userId));
  const redacted = Promise.withResolvers<void>();
  const canCommit = Promise.withResolvers<void>();
  const redact = (userId: string, until: Promise<void>) =>
    inTransaction(test.database, LONG_LIMITS, async (transaction) => {
      await redactPacksOfUser(transaction, userId, { after: 0n });
      redacted.resolve();
      await until;
      await transaction.commitAfter([]);
    });
  const redactFirst = redact(String(first), canCommit.promise);
  await redacted.promise;
  const redactSecond = redact(String(second), Promise.resolve());
  await eventually(async () => (await test.rows(BLOCKED)).length, 1);
  canCommit.resolve();
  await Promise.all([redactFirst, redactSecond]);
  const eventText = JSON.stringify((await readInPagesOf(100)).map(({ data }) => data));
  for (const userId of [first, second]) {
    expect(eventText).not.toContain(`"${userId}"`);
    expect(eventText).not.toContain(`"external-${userId}"`);
  }
  expect(eventText).toContain(`"external-${neighbor}"`);
});

it("drops packs whose events are all old, and remembers how far", async () => {
  await changePlans(test);
  await relay();
  const [old, kept] = await packs();
  await test.rows(
    "update outbound_event_pack set occurred_at = now() - interval '31 days' where last_position = $1",
    [old?.last],
  );
  expect(await dropOutbound(test.database, { olderThanDays: 30, limit: 10 })).toBe(1);
  expect(await packs()).toEqual([kept]);
  const { droppedUntil } = await readEvents(test.database, { after: null, limit: 1 });
  expect(droppedUntil).toBe(BigInt(old?.last as string));
});

it("emits nothing at the end of a grace period that a packed event has already reported", async () => {
  await changePlans(test, {
    factsOf: (userId) => (userId === "user_5" ? { status: "past_due" } : {}),
  });
  await relay();
  const countBefore = (await storedEvents(test)).length;
  expect(await packs()).not.toEqual([]);
  await endGrace({ database: test.database, plans }, { now: new Date(), isStopping: () => false });
  await relay();
  expect(await storedEvents(test)).toHaveLength(countBefore);
});
