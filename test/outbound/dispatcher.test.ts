import { Webhook } from "standardwebhooks";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Address, outboundAllow } from "../../src/outbound/allowed-targets.ts";
import { createDispatcher, type Dispatcher, type DispatcherOptions } from "../../src/outbound/dispatcher.ts";
import type { GivenUpDelivery } from "../../src/outbound/endpoint-sender.ts";
import { relayEvents } from "../../src/outbound/relay.ts";
import { newEndpointSecret } from "../../src/outbound/sign.ts";
import type { Connection, Database } from "../../src/store/database.ts";
import {
  type ClaimedDelivery,
  claimOutboundDeliveries,
} from "../../src/store/outbound/claim-outbound-deliveries.ts";
import { insertEndpoint, updateEndpoint } from "../../src/store/outbound/event-endpoints.ts";
import { registerHooks } from "../../src/store/outbound/hook-endpoints.ts";
import { recordAttempts } from "../../src/store/outbound/record-outbound-attempts.ts";
import { replayDeliveries } from "../../src/store/outbound/replay-outbound-deliveries.ts";
import { inTransaction } from "../../src/store/transaction.ts";
import type { TestDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { testDatabase } from "../support/test-database.ts";
import { ACCESS_CONTEXT } from "./access-context.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

const LOOPBACK = outboundAllow({ hosts: [], ranges: ["127.0.0.0/8"] });

/**
 * Writes an event as a committed transaction would have. The subject is in the data, as `subscription.id`.
 */
async function writeEvent(test: TestDatabase, subject: string, seats: number): Promise<void> {
  await test.rows(
    "insert into outbound_event (type, subject, data) values ('entitlements.changed', $1, $2::text::json)",
    [subject, JSON.stringify({ userId: null, subscription: { id: subject, seats } })],
  );
}

async function addEndpoint(test: TestDatabase, url: string): Promise<{ id: string; secret: string }> {
  const secret = newEndpointSecret();
  const endpoint = { url, types: ["entitlements.changed"], description: null, secret, createdBy: null };
  return { id: (await insertEndpoint(test.database, endpoint)).id, secret };
}

function dispatcherOn(test: TestDatabase, more: Partial<DispatcherOptions> = {}): Dispatcher {
  return createDispatcher({
    database: test.database,
    allow: LOOPBACK,
    hooks: new Map(),
    log: { warn() {}, error() {} },
    now: Date.now,
    ...more,
  });
}

/** Relays and sends until nothing is due. */
async function sendDue(test: TestDatabase, dispatcher: Dispatcher): Promise<void> {
  await relayEvents({ database: test.database, ...ACCESS_CONTEXT });
  while ((await dispatcher.dispatch()) > 0) await dispatcher.idle();
}

/** Makes what waits for its next attempt due now. */
async function skipBackOff(test: TestDatabase): Promise<void> {
  await test.rows(
    "update outbound_delivery set next_attempt_at = now() where status = 'pending' and next_attempt_at is not null",
  );
}

/** The same database, which does something after a statement of this name, before its result is seen. */
function runningAfter(database: Database, name: string, then: () => Promise<void>): Database {
  return {
    ...database,
    connection: async () => {
      const connection = await database.connection();
      const run: Connection["run"] = async (statement, values) => {
        const rows = await connection.run(statement, values);
        if (statement.name === name) await then();
        return rows as never;
      };
      return { ...connection, run };
    },
  };
}

const test = testDatabase(2);
const open: Receiver[] = [];
beforeEach(async () => {
  for (const server of open.splice(0)) await server.close();
  await test.rows(
    "truncate outbound_event, outbound_attempt, outbound_delivery, event_endpoint, notification cascade",
  );
  await test.rows(`update "user" set role = 'user', banned = false`);
});

async function receiver(...options: Parameters<typeof startReceiver>): Promise<Receiver> {
  const started = await startReceiver(...options);
  open.push(started);
  return started;
}

function seatsOf({ received }: Receiver, subject = "a"): (number | undefined)[] {
  return received
    .filter(({ event }) => event.data.subscription?.id === subject)
    .map(({ event }) => event.data.subscription?.seats);
}

function deliveries() {
  return test.rows<{ status: string; attempts: number; next_attempt_at: Date | null }>(
    "select status, attempts, next_attempt_at from outbound_delivery order by id",
  );
}

it("sends an event with a signature that the library of Standard Webhooks verifies", async () => {
  const endpoint = await receiver();
  const { secret } = await addEndpoint(test, endpoint.url);
  await writeEvent(test, "a", 1);
  await sendDue(test, dispatcherOn(test));
  const [request] = endpoint.received;
  const headers = request?.headers as Record<string, string>;
  const event = new Webhook(secret).verify(request?.body as string, headers);
  expect(event).toEqual({
    id: headers["webhook-id"],
    type: "entitlements.changed",
    occurredAt: expect.stringMatching(/^\d{4}-.*Z$/),
    version: "v2",
    data: expect.objectContaining({ userId: null, externalId: null }),
  });
  expect(headers["content-type"]).toBe("application/json");
  expect(await deliveries()).toMatchObject([{ status: "delivered", attempts: 1 }]);
});

it("records the error of a plugin, whatever characters it has", async () => {
  await registerHooks(test.database, ["crm"], ["entitlements.changed"]);
  await writeEvent(test, "a", 1);
  const crm = () => Promise.reject(new Error("unexpected \0 in the answer"));
  await sendDue(test, dispatcherOn(test, { hooks: new Map([["crm", crm]]) }));
  expect(await test.rows("select attempt, error from outbound_attempt")).toEqual([
    { attempt: 1, error: "unexpected \ufffd in the answer" },
  ]);
});

it("signs with the old secrets as well for a day after a rotation", async () => {
  const endpoint = await receiver();
  const { id, secret } = await addEndpoint(test, endpoint.url);
  const [between, next] = [newEndpointSecret(), newEndpointSecret()];
  // The second rotation of a day leaves both old secrets valid.
  for (const rotated of [between, next]) await updateEndpoint(test.database, id, { secret: rotated });
  const [validity] = await test.rows<{ hours: number }>(
    "select extract(epoch from previous_secret_until - now()) / 3600 as hours from event_endpoint",
  );
  expect(Math.round(Number(validity?.hours))).toBe(24);
  await writeEvent(test, "a", 1);
  await sendDue(test, dispatcherOn(test));
  await test.rows("update event_endpoint set previous_secret_until = now() - interval '1 second'");
  await writeEvent(test, "a", 2);
  await sendDue(test, dispatcherOn(test));
  const verifies = (index: number, by: string) => {
    const request = endpoint.received[index];
    try {
      return Boolean(
        new Webhook(by).verify(request?.body as string, request?.headers as Record<string, string>),
      );
    } catch {
      return false;
    }
  };
  const all = [secret, between, next];
  expect(all.map((by) => verifies(0, by))).toEqual([true, true, true]);
  expect(all.map((by) => verifies(1, by))).toEqual([false, false, true]);
});

it("sends the events of a subject in order, and holds the later ones back while an earlier one fails", async () => {
  let isBroken = true;
  const endpoint = await receiver((response, { event }) => {
    const fails = isBroken && event.data.subscription?.id === "a";
    response.writeHead(fails ? 500 : 200).end();
  });
  await addEndpoint(test, endpoint.url);
  const dispatcher = dispatcherOn(test);
  for (const seats of [1, 2, 3]) {
    await writeEvent(test, "a", seats);
    await writeEvent(test, "b", seats);
  }
  await sendDue(test, dispatcher);
  expect(seatsOf(endpoint)).toEqual([1]);
  expect(seatsOf(endpoint, "b")).toEqual([1, 2, 3]);
  await writeEvent(test, "a", 4);
  await sendDue(test, dispatcher);
  expect(seatsOf(endpoint)).toEqual([1]);
  isBroken = false;
  await skipBackOff(test);
  await sendDue(test, dispatcher);
  expect(seatsOf(endpoint)).toEqual([1, 1, 2, 3, 4]);
});

it("keeps the id of an event over its attempts, with a new time and signature each", async () => {
  let count = 0;
  const endpoint = await receiver((response) => {
    count += 1;
    response.writeHead(count === 1 ? 503 : 200).end();
  });
  await addEndpoint(test, endpoint.url);
  let now = Date.now();
  const dispatcher = dispatcherOn(test, { now: () => now });
  await writeEvent(test, "a", 1);
  await sendDue(test, dispatcher);
  now += 60_000;
  await skipBackOff(test);
  await sendDue(test, dispatcher);
  const [first, second] = endpoint.received;
  expect(second?.body).toBe(first?.body);
  expect(second?.headers["webhook-id"]).toBe(first?.headers["webhook-id"]);
  expect(second?.headers["webhook-signature"]).not.toBe(first?.headers["webhook-signature"]);
});

it("waits for 15 s, 60 s and so on after failures, and gives up once the event is five days old", async () => {
  const endpoint = await receiver((response) => void response.writeHead(500).end());
  await addEndpoint(test, endpoint.url);
  const dispatcher = dispatcherOn(test);
  await writeEvent(test, "a", 1);
  await writeEvent(test, "a", 2);
  const wait = async () => {
    const [row] = await test.rows<{ seconds: number }>(
      "select extract(epoch from next_attempt_at - a.at)::float8 as seconds from outbound_delivery d join outbound_attempt a on a.delivery_id = d.id and a.attempt = d.attempts order by d.id limit 1",
    );
    return row?.seconds ?? 0;
  };
  await sendDue(test, dispatcher);
  expect(Math.abs((await wait()) - 15)).toBeLessThan(8);
  await skipBackOff(test);
  await sendDue(test, dispatcher);
  expect(Math.abs((await wait()) - 60)).toBeLessThan(20);
  await test.rows(
    "update outbound_delivery set give_up_at = now() where id = (select min(id) from outbound_delivery)",
  );
  await skipBackOff(test);
  await sendDue(test, dispatcher);
  expect(await deliveries()).toMatchObject([
    { status: "failed", attempts: 3, next_attempt_at: null },
    { status: "pending", attempts: 1 },
  ]);
  const completed = "select completed_at is not null as is_dated from outbound_delivery order by id";
  expect(await test.rows(completed)).toEqual([{ is_dated: true }, { is_dated: false }]);
});

it("reports each delivery that is given up, to an endpoint or a plugin", async () => {
  const { id: endpointId } = await addEndpoint(
    test,
    (await receiver((response) => void response.writeHead(500).end())).url,
  );
  await registerHooks(test.database, ["crm"], ["entitlements.changed"]);
  const reported: GivenUpDelivery[] = [];
  const crm = () => Promise.reject(new Error("the customer is locked"));
  const dispatcher = dispatcherOn(test, {
    hooks: new Map([["crm", crm]]),
    gaveUp: (delivery) => reported.push(delivery),
  });
  await writeEvent(test, "a", 1);
  await sendDue(test, dispatcher);
  expect(reported).toEqual([]);
  await test.rows("update outbound_delivery set give_up_at = now()");
  await skipBackOff(test);
  await sendDue(test, dispatcher);
  const [event] = await test.rows<{ id: string }>("select id from outbound_event");
  const facts = { eventId: event?.id, deliveryId: expect.stringMatching(/^\d+$/) };
  expect(reported).toHaveLength(2);
  expect(reported).toContainEqual({
    ...{ ...facts, endpointId, plugin: null, error: "the endpoint responded with 500" },
  });
  expect(reported).toContainEqual({
    ...{ ...facts, endpointId: expect.any(String), plugin: "crm", error: "the customer is locked" },
  });
  await skipBackOff(test);
  await sendDue(test, dispatcher);
  expect(reported).toHaveLength(2);
});

it("does not delay other endpoints while one never answers", async () => {
  const never = await receiver(() => {});
  const healthy = await receiver();
  const { id } = await addEndpoint(test, never.url);
  await addEndpoint(test, healthy.url);
  const dispatcher = dispatcherOn(test, { timeoutMs: 600_000 });
  const subjects = Array.from({ length: 40 }, (_, index) => `s${index}`);
  for (const subject of subjects) await writeEvent(test, subject, 1);
  await relayEvents({ database: test.database, ...ACCESS_CONTEXT });
  await Promise.all([dispatcher.dispatch(), dispatcher.dispatch()]);
  await eventually(async () => healthy.received.length, subjects.length);
  // At most eight at once wait for it, however often what is due is looked for.
  for (let pass = 0; pass < 3; pass += 1) await dispatcher.dispatch();
  await eventually(async () => never.received.length, 8);
  expect(await dispatcher.dispatch()).toBe(0);
  await test.rows("delete from event_endpoint where id = $1", [id]);
  await never.close();
  await dispatcher.stop();
});

it("does not delay other endpoints while no name server answers for one", async () => {
  const healthy = await receiver();
  const { port } = new URL(healthy.url);
  const stalled = Promise.withResolvers<never>();
  // As the system does: two look-ups at a time, whoever asks.
  let free = 2;
  const queue: (() => void)[] = [];
  const resolve = async (host: string): Promise<Address[]> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((next) => queue.push(next));
    try {
      return await (host === "stalled.test" ? stalled.promise : [{ address: "127.0.0.1", family: 4 }]);
    } finally {
      const next = queue.shift();
      if (next) next();
      else free += 1;
    }
  };
  await addEndpoint(test, "https://stalled.test/hook");
  const dispatcher = dispatcherOn(test, {
    resolve,
    allow: outboundAllow({ hosts: [`healthy.test:${port}`], ranges: [] }),
    timeoutMs: 600_000,
  });
  for (let n = 0; n < 8; n += 1) await writeEvent(test, `s${n}`, 1);
  await relayEvents({ database: test.database, ...ACCESS_CONTEXT });
  expect(await dispatcher.dispatch()).toBe(8);
  await addEndpoint(test, `http://healthy.test:${port}/hook`);
  await writeEvent(test, "a", 1);
  await relayEvents({ database: test.database, ...ACCESS_CONTEXT });
  await dispatcher.dispatch();
  await eventually(async () => healthy.received.length, 1);
  stalled.reject(new Error("no name server answers"));
  await dispatcher.stop();
});

it("reuses an endpoint's connection, and sends an event again on a new one when the endpoint has closed it", async () => {
  const endpoint = await receiver((response, { event, connection }) => {
    const isRepeat = endpoint.received.filter(({ event: { id } }) => id === event.id).length > 1;
    if (event.data.subscription?.seats === 3 && !isRepeat) connection.destroy();
    else response.writeHead(204).end();
  });
  await addEndpoint(test, endpoint.url);
  const dispatcher = dispatcherOn(test);
  for (const seats of [1, 2, 3]) {
    await writeEvent(test, "a", seats);
    await sendDue(test, dispatcher);
  }
  expect(seatsOf(endpoint)).toEqual([1, 2, 3, 3]);
  const [first, second, third, repeated] = endpoint.received.map(({ connection }) => connection);
  expect([second === first, third === first, repeated === first]).toEqual([true, true, false]);
  expect(await test.rows("select attempt, response_status from outbound_attempt")).toEqual(
    Array.from({ length: 3 }, () => ({ attempt: 1, response_status: 204 })),
  );
  await dispatcher.stop();
});

it("finishes what is being sent when it stops, and leaves the rest for another process", async () => {
  const { promise: stopping, resolve: respond } = Promise.withResolvers<void>();
  const endpoint = await receiver((response) => void stopping.then(() => response.writeHead(204).end()));
  await addEndpoint(test, endpoint.url);
  for (let index = 0; index < 20; index += 1) await writeEvent(test, `s${index}`, 1);
  await relayEvents({ database: test.database, ...ACCESS_CONTEXT });
  const dispatcher = dispatcherOn(test, { timeoutMs: 600_000 });
  await dispatcher.dispatch();
  await eventually(async () => endpoint.received.length, 8);
  const stopped = dispatcher.stop();
  respond();
  await stopped;
  const statuses = (await deliveries()).map(({ status }) => status);
  expect(statuses.filter((status) => status === "delivered")).toHaveLength(8);
  expect(endpoint.received).toHaveLength(8);
  expect(await dispatcher.dispatch()).toBe(0);
  await sendDue(test, dispatcherOn(test));
  expect(endpoint.received).toHaveLength(20);
});

it("records an attempt that ends while another one is recorded", async () => {
  const { promise: firstRecorded, resolve: recordedFirst } = Promise.withResolvers<void>();
  const { promise: secondSent, resolve: sentSecond } = Promise.withResolvers<void>();
  const endpoint = await receiver(async (response, { event }) => {
    if (event.data.subscription?.id === "second") await firstRecorded;
    response.writeHead(204).end();
  });
  await addEndpoint(test, endpoint.url);
  let sent = 0;
  const dispatcher = dispatcherOn(test, {
    timeoutMs: 600_000,
    reached: async (milestone) => {
      if (milestone === "delivery sent") {
        sent += 1;
        if (sent === 2) sentSecond();
      }
      if (milestone !== "delivery recorded") return;
      recordedFirst();
      await secondSent;
      await new Promise((resolve) => setImmediate(resolve));
    },
  });
  for (const subject of ["first", "second"]) await writeEvent(test, subject, 1);
  await relayEvents({ database: test.database, ...ACCESS_CONTEXT });
  await dispatcher.dispatch();
  await dispatcher.stop();
  expect((await deliveries()).map(({ status }) => status)).toEqual(["delivered", "delivered"]);
});

it("sends some events while the intake is busy, and everything once it is not", async () => {
  const endpoint = await receiver();
  await addEndpoint(test, endpoint.url);
  let isIntakeBusy = true;
  const dispatcher = dispatcherOn(test, { isIntakeBusy: () => isIntakeBusy });
  for (let index = 0; index < 50; index += 1) await writeEvent(test, `s${index}`, 1);
  await relayEvents({ database: test.database, ...ACCESS_CONTEXT });
  await dispatcher.dispatch();
  await dispatcher.idle();
  expect(endpoint.received).toHaveLength(20);
  isIntakeBusy = false;
  await sendDue(test, dispatcher);
  expect(endpoint.received).toHaveLength(50);
  await dispatcher.stop();
});

it("counts an endpoint that accepts one of several events as healthy", async () => {
  const endpoint = await receiver((response, { event }) => {
    response.writeHead(event.data.subscription?.id === "bad" ? 500 : 204).end();
  });
  await addEndpoint(test, endpoint.url);
  await test.rows("update event_endpoint set failing_since = now() - interval '6 days'");
  for (const subject of ["good", "bad"]) await writeEvent(test, subject, 1);
  const { promise: bothSent, resolve: sentBoth } = Promise.withResolvers<void>();
  let sent = 0;
  const dispatcher = dispatcherOn(test, {
    // They end together, and are recorded in one transaction.
    reached: async (milestone) => {
      if (milestone !== "delivery sent") return;
      sent += 1;
      if (sent === 2) sentBoth();
      await bothSent;
    },
  });
  await sendDue(test, dispatcher);
  expect(await test.rows("select enabled, failing_since from event_endpoint")).toEqual([
    { enabled: true, failing_since: null },
  ]);
  expect(await deliveries()).toMatchObject([
    { status: "delivered", attempts: 1 },
    { status: "pending", attempts: 1 },
  ]);
  await dispatcher.stop();
});

it("records a missing response as a failure", async () => {
  const silent = await receiver(() => {});
  await addEndpoint(test, silent.url);
  await writeEvent(test, "a", 1);
  await sendDue(test, dispatcherOn(test, { timeoutMs: 300 }));
  expect(await test.rows("select response_status, error from outbound_attempt")).toEqual([
    { response_status: null, error: "no response within 0.3 s" },
  ]);
});

it("records an error status, a redirect (not followed) and a broken connection as failures", async () => {
  const wrong = await receiver((response) => void response.writeHead(418).end("no"));
  const redirecting = await receiver(
    (response) => void response.writeHead(302, { location: wrong.url }).end(),
  );
  const closing = await receiver((response) => void response.destroy());
  for (const { url } of [wrong, redirecting, closing]) await addEndpoint(test, url);
  await writeEvent(test, "a", 1);
  await sendDue(test, dispatcherOn(test));
  const rows = await test.rows<{ url: string; response_status: number | null; error: string }>(
    `select p.url, a.response_status, a.error from outbound_attempt a join outbound_delivery d on d.id = a.delivery_id
     join event_endpoint p on p.id = d.endpoint_id`,
  );
  const statusAt = (url: string) => rows.find((row) => row.url === url)?.response_status;
  expect([statusAt(wrong.url), statusAt(redirecting.url), statusAt(closing.url)]).toEqual([418, 302, null]);
  expect(wrong.received).toHaveLength(1);
});

it("does not send to an address that has become private since the endpoint was created", async () => {
  await addEndpoint(test, "https://localhost:9/hook");
  await writeEvent(test, "a", 1);
  await sendDue(test, dispatcherOn(test, { allow: outboundAllow({ hosts: [], ranges: [] }) }));
  const [row] = await test.rows<{ error: string }>("select error from outbound_attempt");
  expect(row?.error).toMatch(/not public/);
});

it("takes over a delivery whose process has stopped, and ignores that process's late result", async () => {
  const endpoint = await receiver();
  await addEndpoint(test, endpoint.url);
  const { promise: resumed, resolve: resume } = Promise.withResolvers<void>();
  const stopped = dispatcherOn(test, {
    reached: async (milestone) => {
      if (milestone === "delivery sent") await resumed;
    },
  });
  await writeEvent(test, "a", 1);
  await writeEvent(test, "a", 2);
  await relayEvents({ database: test.database, ...ACCESS_CONTEXT });
  await stopped.dispatch();
  await eventually(async () => seatsOf(endpoint), [1]);
  await skipBackOff(test);
  await sendDue(test, dispatcherOn(test));
  expect(seatsOf(endpoint)).toEqual([1, 1, 2]);
  resume();
  await stopped.stop();
  expect(await deliveries()).toMatchObject([
    { status: "delivered", attempts: 2 },
    { status: "delivered", attempts: 1 },
  ]);
  expect(await test.rows("select * from outbound_attempt")).toHaveLength(2);
});

it("ignores a late result also while another process sends the delivery", async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const statuses = [500, 204];
  const endpoint = await receiver((response) => {
    const status = statuses.shift() as number;
    void (status === 500 ? Promise.resolve() : answered).then(() => response.writeHead(status).end());
  });
  await addEndpoint(test, endpoint.url);
  const { promise: resumed, resolve: resume } = Promise.withResolvers<void>();
  const stopped = dispatcherOn(test, {
    reached: async (milestone) => {
      if (milestone === "delivery sent") await resumed;
    },
  });
  await writeEvent(test, "a", 1);
  await relayEvents({ database: test.database, ...ACCESS_CONTEXT });
  await stopped.dispatch();
  await eventually(async () => endpoint.received.length, 1);
  await skipBackOff(test);
  const other = dispatcherOn(test, { timeoutMs: 600_000 });
  await other.dispatch();
  await eventually(async () => endpoint.received.length, 2);
  resume();
  await stopped.stop();
  expect(await test.rows("select * from outbound_attempt")).toEqual([]);
  answer();
  await other.stop();
  expect(await deliveries()).toMatchObject([{ status: "delivered", attempts: 2 }]);
  expect(await test.rows("select attempt, error from outbound_attempt")).toEqual([
    { attempt: 2, error: null },
  ]);
});

it.each([
  ["responds with 410", 410],
  ["is paused", 204],
])("sends nothing more to an endpoint that %s while it is being sent to", async (_, status) => {
  const endpoint = await receiver((response) => {
    const pausing =
      status === 410 ? Promise.resolve() : updateEndpoint(test.database, id, { enabled: false });
    void pausing.then(() => response.writeHead(status).end());
  });
  const { id } = await addEndpoint(test, endpoint.url);
  for (let index = 0; index < 20; index += 1) await writeEvent(test, `s${index}`, 1);
  await relayEvents({ database: test.database, ...ACCESS_CONTEXT });
  const dispatcher = dispatcherOn(test, { timeoutMs: 600_000 });
  await dispatcher.dispatch();
  await dispatcher.idle();
  // As many as are sent at once.
  expect(endpoint.received).toHaveLength(8);
  await dispatcher.stop();
});

it("disables an endpoint after five days of failures and notifies its creator", async () => {
  const endpoint = await receiver((response) => void response.writeHead(500).end());
  const { id } = await addEndpoint(test, endpoint.url);
  await test.rows(`update "user" set role = 'admin' where id in ('user_0', 'user_1')`);
  await test.rows("update event_endpoint set created_by = 'user_1'");
  const dispatcher = dispatcherOn(test);
  await writeEvent(test, "a", 1);
  await sendDue(test, dispatcher);
  expect(await test.rows("select enabled from event_endpoint")).toEqual([{ enabled: true }]);
  await test.rows("update event_endpoint set failing_since = now() - interval '5 days'");
  await skipBackOff(test);
  await sendDue(test, dispatcher);
  expect(await test.rows("select enabled, disabled_at is not null as said from event_endpoint")).toEqual([
    { enabled: false, said: true },
  ]);
  expect(await test.rows("select user_id, kind, details from notification")).toEqual([
    { user_id: "user_1", kind: "event_endpoint_disabled", details: { endpointId: id, url: endpoint.url } },
  ]);
  // What is pending stays so, for when it is enabled again.
  await skipBackOff(test);
  await sendDue(test, dispatcher);
  expect(endpoint.received).toHaveLength(2);
  await updateEndpoint(test.database, id, { enabled: true });
  await sendDue(test, dispatcher);
  expect(endpoint.received).toHaveLength(3);
  // Its five days begin anew.
  expect(await test.rows("select enabled, disabled_at from event_endpoint")).toEqual([
    { enabled: true, disabled_at: null },
  ]);
  expect(await test.rows("select from notification")).toHaveLength(1);
});

it("disables an endpoint that responds with 410, unless its URL has changed meanwhile", async () => {
  const endpoint = await receiver((response) => void response.writeHead(410).end());
  const { id } = await addEndpoint(test, endpoint.url);
  await test.rows(`update "user" set role = 'admin' where id = 'user_0'`);
  await writeEvent(test, "a", 1);
  const moving = dispatcherOn(test, {
    reached: async (milestone) => {
      if (milestone === "delivery sent")
        await updateEndpoint(test.database, id, { url: `${endpoint.url}/moved` });
    },
  });
  await sendDue(test, moving);
  expect(await test.rows("select enabled from event_endpoint")).toEqual([{ enabled: true }]);
  await skipBackOff(test);
  await sendDue(test, dispatcherOn(test));
  expect(await test.rows("select enabled, disabled_at is not null as said from event_endpoint")).toEqual([
    { enabled: false, said: true },
  ]);
  expect(await test.rows("select kind from notification")).toEqual([{ kind: "event_endpoint_disabled" }]);
  expect(await deliveries()).toMatchObject([{ status: "pending", attempts: 2 }]);
});

it("does not count an event that is no longer stored as a failure of the endpoint", async () => {
  await addEndpoint(test, (await receiver()).url);
  await writeEvent(test, "a", 1);
  await relayEvents({ database: test.database, ...ACCESS_CONTEXT });
  await test.rows("delete from outbound_event");
  await sendDue(test, dispatcherOn(test));
  expect(await deliveries()).toMatchObject([{ status: "pending", attempts: 1 }]);
  expect(await test.rows("select failing_since from event_endpoint")).toEqual([{ failing_since: null }]);
});

describe("an event that cannot be read", () => {
  let endpoint: Awaited<ReturnType<typeof receiver>>;
  let endpointId: string;
  const givenUp: GivenUpDelivery[] = [];
  const tryOnce = async () => {
    await skipBackOff(test);
    await sendDue(test, dispatcherOn(test, { gaveUp: (delivery) => givenUp.push(delivery) }));
  };

  beforeEach(async () => {
    givenUp.length = 0;
    endpoint = await receiver();
    endpointId = (await addEndpoint(test, endpoint.url)).id;
    await writeEvent(test, "a", 1);
    await writeEvent(test, "a", 2);
    await relayEvents({ database: test.database, ...ACCESS_CONTEXT });
    await test.rows("create table lost as select * from outbound_event order by position limit 1");
    await loseEvent();
    // As after failures of the endpoint.
    await test.rows(
      "update outbound_delivery set attempts = 5 where id = (select min(id) from outbound_delivery)",
    );
  });
  afterEach(() => test.rows("drop table lost"));
  const loseEvent = () =>
    test.rows("delete from outbound_event where position = (select position from lost)");

  it("is given up after six attempts, and what waits for it is sent", async () => {
    for (let attempt = 1; attempt <= 6; attempt += 1) {
      expect(givenUp).toEqual([]);
      await tryOnce();
    }
    expect(givenUp).toMatchObject([{ error: "the event is no longer stored, or cannot be read" }]);
    expect(await deliveries()).toMatchObject([{ status: "failed", attempts: 11 }, { status: "delivered" }]);
    expect(seatsOf(endpoint)).toEqual([2]);
  });

  it("is tried again as soon as if nothing had failed before", async () => {
    await tryOnce();
    const [{ wait } = { wait: 0 }] = await test.rows<{ wait: number }>(
      `select extract(epoch from d.next_attempt_at - a.at)::int as wait
       from outbound_attempt a join outbound_delivery d on d.id = a.delivery_id`,
    );
    // After the sixth failure of an endpoint it is three hours and a half at least.
    expect(wait).toBeGreaterThanOrEqual(15);
    expect(wait).toBeLessThan(3 * 60 * 60);
  });

  it("has six attempts again once it is replayed", async () => {
    for (let attempt = 1; attempt <= 6; attempt += 1) await tryOnce();
    await test.rows("insert into outbound_event overriding system value select * from lost");
    const [{ deliveryId }] = givenUp as [GivenUpDelivery];
    expect(await replayDeliveries(test.database, endpointId, [deliveryId])).toBe(1);
    await loseEvent();
    await tryOnce();
    expect(await deliveries()).toMatchObject([{ status: "pending" }, { status: "delivered" }]);
  });
});

it("counts the failures of an endpoint that is enabled again without having been disabled", async () => {
  const { id } = await addEndpoint(test, "https://example.com/hook");
  const failingSince = new Date("2026-01-01T00:00:00Z");
  await test.rows("update event_endpoint set failing_since = $1", [failingSince]);
  for (const change of [{ enabled: true }, { description: "shop" }])
    expect((await updateEndpoint(test.database, id, change))?.failingSince).toEqual(failingSince);
});

it("never disables a plugin's hook", async () => {
  await registerHooks(test.database, ["crm"], ["entitlements.changed"]);
  await test.rows("update event_endpoint set failing_since = now() - interval '6 days'");
  await writeEvent(test, "a", 1);
  const crm = () => Promise.reject(new Error("out of order"));
  await sendDue(test, dispatcherOn(test, { hooks: new Map([["crm", crm]]) }));
  expect(await deliveries()).toMatchObject([{ status: "pending", attempts: 1 }]);
  expect(await test.rows("select enabled, disabled_at from event_endpoint")).toEqual([
    { enabled: true, disabled_at: null },
  ]);
  expect(await test.rows("select from notification")).toEqual([]);
});

it("leaves a hook's events to the processes that have the plugin", async () => {
  await registerHooks(test.database, ["crm", "erp"], ["entitlements.changed"]);
  await writeEvent(test, "a", 1);
  const called: string[] = [];
  const crm = async () => void called.push("crm");
  await sendDue(test, dispatcherOn(test, { hooks: new Map([["crm", crm]]) }));
  expect(called).toEqual(["crm"]);
  const states = await test.rows<{ hook: string; status: string; attempts: number }>(
    `select p.hook, d.status, d.attempts from outbound_delivery d join event_endpoint p on p.id = d.endpoint_id
     order by p.hook`,
  );
  expect(states).toEqual([
    { hook: "crm", status: "delivered", attempts: 1 },
    { hook: "erp", status: "pending", attempts: 0 },
  ]);
});

it("disables no other endpoint, and notifies the administrators where its creator is unknown", async () => {
  const endpoint = await receiver((response) => void response.writeHead(500).end());
  const { id } = await addEndpoint(test, endpoint.url);
  const secret = newEndpointSecret();
  const types = ["user.created"];
  const other = { url: "https://example.com/hook", types, description: null, secret, createdBy: null };
  await insertEndpoint(test.database, other);
  await test.rows(`update "user" set role = case id when 'user_0' then 'admin' else 'user' end`);
  await test.rows("update event_endpoint set failing_since = now() - interval '5 days'");
  await writeEvent(test, "a", 1);
  await sendDue(test, dispatcherOn(test));
  expect(await test.rows("select id from event_endpoint where not enabled")).toEqual([{ id }]);
  expect(await test.rows("select user_id, details ->> 'endpointId' as endpoint from notification")).toEqual([
    { user_id: "user_0", endpoint: id },
  ]);
});

it.each([
  ["who is no longer an administrator", "role = 'user'"],
  ["who is banned", "role = 'admin', banned = true"],
])("notifies the administrators instead of a creator %s", async (_, creator) => {
  const endpoint = await receiver((response) => void response.writeHead(500).end());
  await addEndpoint(test, endpoint.url);
  await test.rows(`update "user" set role = 'admin' where id = 'user_0'`);
  await test.rows(`update "user" set ${creator} where id = 'user_1'`);
  await test.rows(
    "update event_endpoint set created_by = 'user_1', failing_since = now() - interval '5 days'",
  );
  await writeEvent(test, "a", 1);
  await sendDue(test, dispatcherOn(test));
  expect(await test.rows("select user_id from notification")).toEqual([{ user_id: "user_0" }]);
});

it("counts the failures of an endpoint anew when its address has changed", async () => {
  const endpoint = await receiver((response) => void response.writeHead(500).end());
  const { id } = await addEndpoint(test, endpoint.url);
  const failingSince = new Date("2026-01-01T00:00:00Z");
  await test.rows("update event_endpoint set failing_since = $1", [failingSince]);
  expect((await updateEndpoint(test.database, id, { url: endpoint.url }))?.failingSince).toEqual(
    failingSince,
  );
  const url = `${endpoint.url}/moved`;
  expect(await updateEndpoint(test.database, id, { url })).toMatchObject({ url, failingSince: null });
  await writeEvent(test, "a", 1);
  await sendDue(test, dispatcherOn(test));
  expect(await test.rows("select enabled, disabled_at from event_endpoint")).toEqual([
    { enabled: true, disabled_at: null },
  ]);
});

it("holds an event back for an earlier one of the same endpoint only", async () => {
  const failing = await receiver((response) => void response.writeHead(500).end());
  const healthy = await receiver();
  for (const { url } of [failing, healthy]) await addEndpoint(test, url);
  const dispatcher = dispatcherOn(test);
  for (const together of [[1, 2], [3]]) {
    for (const seats of together) await writeEvent(test, "a", seats);
    await sendDue(test, dispatcher);
  }
  expect(seatsOf(failing)).toEqual([1]);
  expect(seatsOf(healthy)).toEqual([1, 2, 3]);
});

/** Records a delivery as made, in a transaction that is open until it is committed. */
async function recordDelivered(endpointId: string, delivery: ClaimedDelivery): Promise<() => Promise<void>> {
  const { promise: recorded, resolve: endRecording } = Promise.withResolvers<void>();
  const { promise: committing, resolve: commit } = Promise.withResolvers<void>();
  const limits = { lockTimeoutMs: 5_000, statementTimeoutMs: 5_000, idleTimeoutMs: 30_000 };
  const recording = inTransaction(
    test.database,
    { synchronousCommit: "on", ...limits },
    async (transaction) => {
      const result = { isDelivered: true, durationMs: 1, responseStatus: 204, error: null };
      await Promise.all(recordAttempts(transaction, endpointId, [{ delivery, result, retryInSeconds: 15 }]));
      endRecording();
      await committing;
      await transaction.commitAfter([]);
    },
  );
  await recorded;
  return () => {
    commit();
    return recording;
  };
}

function waitingForPredecessor(endpointId: string) {
  return test.rows(
    "select from outbound_delivery where endpoint_id = $1 and status = 'pending' and next_attempt_at is null",
    [endpointId],
  );
}

it("leaves no event waiting when it is relayed while its predecessor is recorded as delivered", async () => {
  const { id } = await addEndpoint(test, "https://example.com/hook");
  await writeEvent(test, "a", 1);
  await relayEvents({ database: test.database, ...ACCESS_CONTEXT });
  const [delivery] = await claimOutboundDeliveries(test.database, id, { limit: 1, leaseSeconds: 45 });
  await writeEvent(test, "a", 2);
  const commit = await recordDelivered(id, delivery as ClaimedDelivery);
  let isRelayed = false;
  const relaying = relayEvents({ database: test.database, ...ACCESS_CONTEXT }).then(() => {
    isRelayed = true;
  });
  const waiting =
    "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
  await eventually(async () => isRelayed || (await test.rows(waiting)).length > 0, true);
  await commit();
  await relaying;
  expect(await waitingForPredecessor(id)).toEqual([]);
});

it("leaves no event waiting when its predecessor is delivered just as the endpoint is resumed", async () => {
  const { id } = await addEndpoint(test, "https://example.com/hook");
  await addEndpoint(test, "https://example.com/other");
  await writeEvent(test, "a", 1);
  await relayEvents({ database: test.database, ...ACCESS_CONTEXT });
  const [delivery] = await claimOutboundDeliveries(test.database, id, { limit: 1, leaseSeconds: 45 });
  await updateEndpoint(test.database, id, { enabled: false });
  await writeEvent(test, "a", 2);
  let commit = async () => {};
  const resumeAndRecord = async () => {
    await updateEndpoint(test.database, id, { enabled: true });
    commit = await recordDelivered(id, delivery as ClaimedDelivery);
  };
  await relayEvents({
    database: runningAfter(test.database, "lock_event_endpoints", resumeAndRecord),
    ...ACCESS_CONTEXT,
  });
  await commit();
  expect(await waitingForPredecessor(id)).toEqual([]);
});

it("notifies once when several batches of attempts fail as the endpoint is disabled", async () => {
  const endpoint = await receiver((response) => void response.writeHead(500).end());
  await addEndpoint(test, endpoint.url);
  await test.rows(`update "user" set role = 'admin' where id = 'user_1'`);
  await test.rows(
    "update event_endpoint set created_by = 'user_1', failing_since = now() - interval '5 days'",
  );
  const { promise: secondMayEnd, resolve: endSecond } = Promise.withResolvers<void>();
  let sent = 0;
  const dispatcher = dispatcherOn(test, {
    reached: async (milestone) => {
      if (milestone !== "delivery sent") return;
      sent += 1;
      if (sent === 2) await secondMayEnd;
    },
  });
  for (const subject of ["a", "b"]) await writeEvent(test, subject, 1);
  await relayEvents({ database: test.database, ...ACCESS_CONTEXT });
  await dispatcher.dispatch();
  const notified = async () => (await test.rows("select from notification")).length;
  await eventually(notified, 1);
  endSecond();
  await dispatcher.idle();
  expect(await deliveries()).toMatchObject([{ attempts: 1 }, { attempts: 1 }]);
  expect(await notified()).toBe(1);
  await dispatcher.stop();
});

it.each([200, 500])("notifies nobody of a pause during which an attempt ends with %i", async (status) => {
  let pause = async () => {};
  const endpoint = await receiver((response) => {
    void pause().then(() => response.writeHead(status).end());
  });
  const { id } = await addEndpoint(test, endpoint.url);
  await test.rows("update event_endpoint set created_by = 'user_1', failing_since = $1", [
    status === 200 ? new Date() : null,
  ]);
  pause = async () => {
    await updateEndpoint(test.database, id, { enabled: false });
  };
  await writeEvent(test, "a", 1);
  await sendDue(test, dispatcherOn(test));
  expect(endpoint.received).toHaveLength(1);
  expect(await test.rows("select from notification")).toEqual([]);
});

it("counts an endpoint's failures from the first one on", async () => {
  const endpoint = await receiver((response) => void response.writeHead(500).end());
  await addEndpoint(test, endpoint.url);
  const failingSince = async () => (await test.rows("select failing_since from event_endpoint"))[0];
  await writeEvent(test, "a", 1);
  await sendDue(test, dispatcherOn(test));
  const first = await failingSince();
  expect(first).toEqual({ failing_since: expect.any(Date) });
  await skipBackOff(test);
  await sendDue(test, dispatcherOn(test));
  expect(endpoint.received).toHaveLength(2);
  expect(await failingSince()).toEqual(first);
});

it("resets the failures after a success", async () => {
  const endpoint = await receiver();
  await addEndpoint(test, endpoint.url);
  await test.rows("update event_endpoint set failing_since = now() - interval '6 days'");
  await writeEvent(test, "a", 1);
  await sendDue(test, dispatcherOn(test));
  expect(await test.rows("select enabled, failing_since from event_endpoint")).toEqual([
    { enabled: true, failing_since: null },
  ]);
});
