import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { outboundAllow } from "../../src/outbound/allowed-targets.ts";
import { type Outbound, startOutbound } from "../../src/outbound/outbound.ts";
import {
  createRelayThread,
  type RelayThread,
  type RelayThreadOptions,
} from "../../src/outbound/relay-thread.ts";
import { eventually } from "../support/eventually.ts";
import { storedEvents } from "../support/stored-events.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { testDatabase } from "../support/test-database.ts";
import { ACCESS_CONTEXT } from "./access-context.ts";
import { changePlans, startWithSubscriptions } from "./change-plans.ts";

const USERS = 60;
/** As many as a batch: each change gives two events. */
const CHANGES_PER_BATCH = 500;

const test = testDatabase(USERS);
const closing: { stop(): Promise<void> }[] = [];
beforeEach(() => startWithSubscriptions(test, USERS));
afterEach(async () => {
  for (const open of closing.splice(0)) await open.stop();
});

function relayThread(more: Partial<RelayThreadOptions> = {}): RelayThread {
  const connecting = { url: test.url, prepared: true, answerTimeoutMs: 10_000 };
  const thread = createRelayThread({ ...ACCESS_CONTEXT, connecting, ...more });
  closing.push(thread);
  return thread;
}

function outboundWith(
  relayThread: RelayThread,
  runsOn: "timer" | "request" = "request",
  warnings: string[] = [],
): Outbound {
  const outbound = startOutbound({
    ...ACCESS_CONTEXT,
    relayThread,
    database: test.database,
    allow: outboundAllow({ hosts: [], ranges: [] }),
    hooks: new Map(),
    log: { error() {}, warn: (_: object, message: string) => warnings.push(message) },
    now: Date.now,
    runsOn,
  });
  closing.push(outbound);
  return outbound;
}

async function changeAtLeast(count: number): Promise<number> {
  let changes = 0;
  for (; changes < count; changes += USERS) await changePlans(test);
  return changes;
}

const seats = async () =>
  (await storedEvents(test))
    .filter(({ type }) => type === "subscription.changed")
    .map(({ data }) => (data.subscription as { seats: number }).seats);

it("relays in the thread what is more than a few changes, behind them and in order", async () => {
  const thread = relayThread();
  const outbound = outboundWith(thread);
  await changePlans(test, { limit: 20, factsOf: () => ({ seats: 1 }) });
  expect(await outbound.runNow()).toBe("ok");
  expect(thread.isRunning()).toBe(false);
  expect(await seats()).toEqual(Array(20).fill(1));

  for (const number of [2, 3, 4]) await changePlans(test, { factsOf: () => ({ seats: number }) });
  expect(await outbound.runNow()).toBe("ok");
  expect(thread.isRunning()).toBe(true);
  expect(await seats()).toEqual(
    [1, 2, 3, 4].flatMap((number) => Array(number === 1 ? 20 : USERS).fill(number)),
  );
  const events = await storedEvents(test);
  expect(events).toHaveLength(2 * (20 + 3 * USERS));
  expect(new Set(events.map(({ position }) => position)).size).toBe(events.length);
});

it("knows in the thread what each plan grants", async () => {
  await changePlans(test);
  await relayThread().relay();
  const granted = (await storedEvents(test)).filter(({ type }) => type === "entitlements.changed");
  expect(granted).toHaveLength(USERS);
  for (const { data } of granted) expect(data).toMatchObject({ entitlements: { planId: "pro" } });
});

it("ends the thread when it has nothing to do, and starts another one later", async () => {
  const thread = relayThread({ idleMs: 20 });
  for (const relayed of [1, 2]) {
    await changePlans(test);
    await thread.relay();
    await eventually(async () => thread.isRunning(), false);
    expect(await storedEvents(test)).toHaveLength(relayed * 2 * USERS);
  }
});

it("closes its connection when it ends", async () => {
  const connections = async () => {
    const rows = await test.rows<{ pid: number }>(
      "select pid from pg_stat_activity where datname = current_database() and backend_type = 'client backend'",
    );
    return rows.map(({ pid }) => pid);
  };
  await changePlans(test);
  const before = await connections();
  // Those of earlier tests may still be going.
  const added = async () => (await connections()).filter((pid) => !before.includes(pid)).length;
  const thread = relayThread();
  await thread.relay();
  expect(await added()).toBe(1);
  await thread.stop();
  await eventually(added, 0);
});

it("answers every call, however many come at once", async () => {
  const thread = relayThread();
  await changePlans(test);
  await Promise.all([thread.relay(), thread.relay(), thread.relay()]);
  expect(await storedEvents(test)).toHaveLength(2 * USERS);
});

it("stops after requested runs beside its own passes", async () => {
  const outbound = outboundWith(relayThread(), "timer");
  for (let run = 0; run < 5; run += 1) {
    await changeAtLeast(2 * USERS);
    expect(await outbound.runNow()).toBe("ok");
  }
  await eventually(async () => (await storedEvents(test)).length, 5 * 2 * 2 * USERS);
  await outbound.stop();
});

it("relays in the main thread while the other one fails", async () => {
  const warnings: string[] = [];
  // Where nobody listens.
  const connecting = { url: "postgres://127.0.0.1:1/none", prepared: true, answerTimeoutMs: 1_000 };
  const outbound = outboundWith(relayThread({ connecting }), "request", warnings);
  const changes = await changeAtLeast(3 * USERS);
  expect(await outbound.runNow()).toBe("ok");
  expect(await storedEvents(test)).toHaveLength(2 * changes);
  expect(warnings).toEqual(["the relay's thread failed: for a minute the main thread relays"]);
});

it("stops within seconds although the database's host has vanished", async () => {
  const { port } = new URL(test.url);
  const proxy = await startTcpProxy(Number(port));
  const url = new URL(test.url);
  url.port = String(proxy.port);
  const thread = relayThread({ connecting: { url: url.href, prepared: true, answerTimeoutMs: 60_000 } });
  await thread.relay();
  proxy.set({ toServer: "held", toClient: "held" });
  const heldAt = performance.now();
  const relaying = thread.relay().catch(() => "ended");
  await setImmediate();
  await thread.stop();
  expect(await relaying).toBe("ended");
  // Half of what it waits for an answer.
  expect(performance.now() - heldAt).toBeLessThan(30_000);
  proxy.restore();
  await proxy.close();
});

it("rejects when the callback of a milestone throws", async () => {
  await changePlans(test);
  const thread = relayThread({
    reached: () => {
      throw new Error("not reached");
    },
  });
  await expect(thread.relay()).rejects.toThrow("not reached");
});

it("stops after the batch under way, whose events are stored", async () => {
  const changes = await changeAtLeast(3 * CHANGES_PER_BATCH);
  const batch = Promise.withResolvers<void>();
  const atBatch = Promise.withResolvers<void>();
  const thread = relayThread({
    reached: (milestone) => {
      if (milestone !== "positions given") return;
      atBatch.resolve();
      return batch.promise;
    },
  });
  const relaying = thread.relay();
  await atBatch.promise;
  const stopping = thread.stop();
  batch.resolve();
  await Promise.all([relaying, stopping]);
  expect(thread.isRunning()).toBe(false);
  const stored = await storedEvents(test);
  expect(stored.length).toBeGreaterThanOrEqual(2 * CHANGES_PER_BATCH);
  expect(stored.length).toBeLessThan(2 * changes);

  await thread.relay();
  expect(await storedEvents(test)).toHaveLength(stored.length);
  await relayThread().relay();
  expect(await storedEvents(test)).toHaveLength(2 * changes);
});

it("rejects with what relaying failed with, and works again once that is over", async () => {
  await changePlans(test);
  await test.rows("alter table outbound_relay rename to outbound_relay_away");
  const thread = relayThread();
  try {
    await expect(thread.relay()).rejects.toMatchObject({
      message: expect.stringContaining("outbound_relay"),
      code: "42P01",
    });
  } finally {
    await test.rows("alter table outbound_relay_away rename to outbound_relay");
  }
  await thread.relay();
  expect(await storedEvents(test)).toHaveLength(2 * USERS);
});

/** Which the thread cannot open: it ends with an error. */
const NOWHERE = { url: undefined as unknown as string, prepared: true, answerTimeoutMs: 10_000 };

it("stops although the thread ends with an error meanwhile", async () => {
  const thread = relayThread({ connecting: NOWHERE });
  // With the error, or because it had not yet started when it was ended.
  const relaying = expect(thread.relay()).rejects.toThrow();
  await setImmediate();
  await thread.stop();
  await relaying;
});

it("rejects when the thread ends by itself, and starts another one the next time", async () => {
  const thread = relayThread({ connecting: NOWHERE });
  for (const _ of [1, 2]) {
    await expect(thread.relay()).rejects.toThrow(TypeError);
    expect(thread.isRunning()).toBe(false);
  }
});
