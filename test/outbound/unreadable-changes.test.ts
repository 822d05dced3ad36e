import { beforeEach, expect, it } from "vitest";
import { relayEvents } from "../../src/outbound/relay.ts";
import { createRelayThread } from "../../src/outbound/relay-thread.ts";
import { decodeChanges } from "../../src/store/outbound/change-set.ts";
import { packEvents } from "../../src/store/outbound/event-packs.ts";
import { readEvents } from "../../src/store/outbound/outbound-list.ts";
import { dropOutbound } from "../../src/store/outbound/outbound-retention.ts";
import { outboundState } from "../../src/store/outbound/outbound-state.ts";
import { findPackedEvents } from "../../src/store/outbound/packed-events.ts";
import { redactOutbound } from "../../src/store/outbound/redact-outbound.ts";
import { relistPacks } from "../../src/store/outbound/relist-packs.ts";
import type { UnreadableSet } from "../../src/store/outbound/written-events.ts";
import { inTransaction } from "../../src/store/transaction.ts";
import { storedEvents } from "../support/stored-events.ts";
import { testDatabase } from "../support/test-database.ts";
import { ACCESS_CONTEXT } from "./access-context.ts";
import { changePlans, LONG_LIMITS, startWithSubscriptions } from "./change-plans.ts";

const test = testDatabase(2);
beforeEach(async () => {
  await startWithSubscriptions(test, 2);
  await test.rows("truncate outbound_unreadable_set");
});

const CHANGED = `["4d5d1d7e-2b39-4e2b-9d0c-0a4f9d0f4b11","subscription.changed","user_1","provider-a","sub_1","pro",1,"active",null,false,false,null]`;

/** What may be there instead of one change that this release has written. */
const UNREADABLE = [
  ["that are cut off", Buffer.from("789c", "hex")],
  ["that are empty", Buffer.alloc(0)],
  ["with zeros", Buffer.from("[\0\0")],
  ["in another encoding", Buffer.from("\u0001changes")],
  ["with a status that we do not know", Buffer.from(`[${CHANGED.replace("active", "dunning")}]`)],
  ["with a type that we do not know", Buffer.from(`[${CHANGED.replace(".changed", ".renewed")}]`)],
  ["with a field too few", Buffer.from(`[${CHANGED.replace(/,null]$/, "]")}]`)],
  ["with two changes for the times of one", Buffer.from(`[${CHANGED},${CHANGED}]`)],
  ["that are no list", Buffer.from("{}")],
  ["of which each is no list", Buffer.from('[{"id":"1"}]')],
] as const;

async function addSet(changes: Buffer): Promise<string> {
  const [row] = await test.rows<{ seq: string }>(
    `insert into outbound_change_set (changes_count, occurred_at, created_at, changes)
     values (1, array[date_part('epoch', now())], array[date_part('epoch', now())], $1) returning seq`,
    [changes],
  );
  return row?.seq as string;
}

const relay = (onUnreadable: (sets: readonly UnreadableSet[]) => void) =>
  relayEvents({ database: test.database, ...ACCESS_CONTEXT, onUnreadable });

const changedPlans = async () =>
  (await storedEvents(test)).filter(({ type }) => type === "subscription.changed").length;

it.each(UNREADABLE)("sets aside changes %s, and relays what follows them", async (_, changes) => {
  await changePlans(test);
  const seq = await addSet(changes);
  await changePlans(test);
  const reported: UnreadableSet[] = [];
  await relay((sets) => reported.push(...sets));
  expect(reported).toEqual([{ seq, error: expect.stringMatching(/./) }]);
  expect(await changedPlans()).toBe(4);
  expect(await test.rows("select seq from outbound_change_set")).toEqual([]);
  expect(await test.rows("select seq, changes, error from outbound_unreadable_set")).toEqual([
    { seq, changes, error: reported[0]?.error },
  ]);
  expect((await outboundState(test.database)).unreadableChanges).toBe(1);
});

it("relays changes to which a later release has added a field", async () => {
  await addSet(Buffer.from(`[${CHANGED.replace(/]$/, ',"EUR"]')}]`));
  await relay(() => {});
  expect(await changedPlans()).toBe(1);
});

it("sets changes aside when there is nothing else", async () => {
  await addSet(Buffer.from("?"));
  await relay(() => {});
  expect(await test.rows("select from outbound_unreadable_set")).toHaveLength(1);
  expect((await outboundState(test.database)).backlogSeconds).toBe(0);
});

it("reports them from the relay's thread as well", async () => {
  const seq = await addSet(Buffer.from("?"));
  const reported: string[] = [];
  const thread = createRelayThread({
    ...ACCESS_CONTEXT,
    connecting: { url: test.url, prepared: true, answerTimeoutMs: 10_000 },
    onUnreadable: (sets) => reported.push(...sets.map((set) => set.seq)),
  });
  await thread.relay();
  await thread.stop();
  expect(reported).toEqual([seq]);
});

it("lets users be deleted while such changes wait for the relay", async () => {
  await changePlans(test);
  await addSet(Buffer.from("?"));
  await inTransaction(test.database, LONG_LIMITS, async (transaction) => {
    await redactOutbound(transaction, "user_1");
    await transaction.commitAfter([]);
  });
  await relay(() => {});
  expect((await storedEvents(test)).filter(({ data }) => data.userId === "user_1")).toEqual([]);
  expect(await changedPlans()).toBe(2);
});

it("redacts a deleted user also in changes that another release has set aside", async () => {
  await test.rows(
    `insert into outbound_unreadable_set (seq, changes_count, occurred_at, created_at, changes, error)
     values (1, 1, array[date_part('epoch', now())], array[date_part('epoch', now())], $1, 'unknown')`,
    [Buffer.from(`[${CHANGED}]`)],
  );
  await inTransaction(test.database, LONG_LIMITS, async (transaction) => {
    await redactOutbound(transaction, "user_1");
    await transaction.commitAfter([]);
  });
  const [set] = await test.rows<{ changes: Buffer }>("select changes from outbound_unreadable_set");
  expect(decodeChanges(set?.changes as Buffer)).toMatchObject([{ after: { userId: null, planId: "pro" } }]);
});

it("relays changes that are given back", async () => {
  await addSet(Buffer.from("?"));
  await relay(() => {});
  await test.rows(
    `with repaired as (delete from outbound_unreadable_set returning *)
     insert into outbound_change_set (changes_count, occurred_at, created_at, changes)
     select changes_count, occurred_at, created_at, $1 from repaired`,
    [Buffer.from(`[${CHANGED}]`)],
  );
  await relay(() => {});
  expect(await changedPlans()).toBe(1);
});

it("drops them at the age of other events", async () => {
  await addSet(Buffer.from("?"));
  await relay(() => {});
  const drop = () => dropOutbound(test.database, { olderThanDays: 30, limit: 10 });
  expect(await drop()).toBe(0);
  await test.rows("update outbound_unreadable_set set set_aside_at = now() - interval '31 days'");
  expect(await drop()).toBe(1);
});

it("lets users be deleted who may be in a pack that cannot be read", async () => {
  await test.rows(
    `insert into outbound_event_pack (first_position, last_position, occurred_at, users, events)
     values (1, 1, now(), '\\xff', '\\x00')`,
  );
  await inTransaction(test.database, LONG_LIMITS, async (transaction) => {
    await redactOutbound(transaction, "user_1");
    await transaction.commitAfter([]);
  });
  expect(await test.rows("delete from outbound_event_pack returning events")).toEqual([
    { events: Buffer.from("00", "hex") },
  ]);
});

/** A pack of one event. `end`: where it is cut off. */
async function addPack(position: bigint, { end }: { end?: number } = {}): Promise<void> {
  const event = { position, id: `evt_${position}`, occurredAt: new Date(0), data: { id: "user_1" } };
  const packed = packEvents([{ ...event, type: "user.updated" }]).subarray(0, end);
  await test.rows(
    `insert into outbound_event_pack (first_position, last_position, occurred_at, users, events)
     values ($1::bigint, $1::bigint, now() - interval '31 days', '\\x00', $2)`,
    [position, packed],
  );
}

it("finds the events of other packs beside one that cannot be read, and counts that one", async () => {
  await addPack(1n, { end: 4 });
  await addPack(2n);
  const found = await findPackedEvents(test.database, [1n, 2n]);
  expect([...found.values()].map(({ id }) => id)).toEqual(["evt_2"]);
  expect((await outboundState(test.database)).unreadableEvents).toBe(1);
});

it("lists the events behind packs that cannot be read, however many, and reports these once", async () => {
  for (const position of [2n, 3n, 4n, 5n]) await addPack(position, { end: 4 });
  await addPack(1n);
  // A pack of two, of which one is missing.
  await addPack(7n);
  await test.rows("update outbound_event_pack set first_position = 6 where last_position = 7");
  await addPack(8n);
  const reported: string[] = [];
  const list = (after: bigint) =>
    readEvents(test.database, { after, limit: 1 }, (packs) =>
      reported.push(...packs.map(({ lastPosition }) => lastPosition)),
    );
  expect((await list(0n)).events).toMatchObject([{ id: "evt_1" }]);
  for (const after of [1n, 3n, 6n]) expect((await list(after)).events).toMatchObject([{ id: "evt_8" }]);
  expect(reported).toEqual(["2", "3", "4", "5", "7"]);
  // Whoever has read up to there before can continue.
  const isUnknown = await Promise.all(
    [1n, 2n, 6n, 8n].map(async (after) => (await list(after)).isAfterUnknown),
  );
  expect(isUnknown).toEqual([false, true, true, false]);
  expect((await outboundState(test.database)).unreadableEvents).toBe(6);
  expect(await dropOutbound(test.database, { olderThanDays: 30, limit: 10 })).toBe(7);
  expect((await outboundState(test.database)).unreadableEvents).toBe(0);
});

it("lists packs again that have become readable, such as those that an earlier release could not read", async () => {
  for (const position of Array.from({ length: 25 }, (_, at) => BigInt(at + 1)))
    await addPack(position, position === 23n ? {} : { end: 4 });
  await test.rows(
    "insert into outbound_unreadable_pack (last_position, error) select last_position, 'later' from outbound_event_pack",
  );
  await relistPacks(test.database);
  const [unreadable] = await test.rows(
    `select count(*)::int as packs, count(*) filter (where last_position = 23)::int as readable
     from outbound_unreadable_pack`,
  );
  expect(unreadable).toEqual({ packs: 24, readable: 0 });
});
