import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import plans from "../../plans.config.ts";
import { readConfig } from "../../src/config/config.ts";
import { perSlot } from "../../src/domain/slot.ts";
import { createLog } from "../../src/observability/log.ts";
import { relayEvents } from "../../src/outbound/relay.ts";
import { traitsOf } from "../../src/providers/registry.ts";
import { type RunningServer, startServer } from "../../src/server.ts";
import { dropOutbound } from "../../src/store/outbound/outbound-retention.ts";
import { openEventStream, type ReadEventStream } from "../support/event-stream.ts";
import { eventually } from "../support/eventually.ts";
import { sendRequest } from "../support/http.ts";
import { createKey, createUser, type TestUser } from "../support/people.ts";
import { createServiceKey } from "../support/service-keys.ts";
import { testDatabase } from "../support/test-database.ts";
import { GENEROUS_LIMITS, serverVariables } from "../support/variables.ts";

const test = testDatabase(0);
let server: RunningServer;
let key: string;
let user: TestUser;
const streams: ReadEventStream[] = [];

function start({ eventHeartbeatMs = 50 } = {}): Promise<RunningServer> {
  const config = readConfig({ ...serverVariables(test.url), ...GENEROUS_LIMITS });
  return startServer(config, { log: createLog("silent"), eventHeartbeatMs });
}

beforeAll(async () => {
  server = await start();
  user = await createUser(test);
  ({ key } = await createServiceKey(test, { permissions: ["events:read"] }));
});
afterAll(() => server.close());
beforeEach(relayed);
afterEach(async () => {
  for (const stream of streams.splice(0)) await stream.close();
});

type Listed = { id: string; type: string; occurredAt: string; version: string; data: { n: number } };

async function list(query = "", version = "v1", as: { key?: string; cookie?: string } = { key }) {
  return sendRequest(server.url, "GET", `/api/${version}/events${query}`, as);
}

/** The cursor after everything that has happened. */
async function newest(): Promise<string> {
  let cursor = "";
  for (;;) {
    const { body } = await list(`?limit=100${cursor && `&after=${cursor}`}`);
    cursor = body.nextCursor;
    if (body.events.length === 0) return cursor;
  }
}

let written = 0;

/** Events with ascending numbers, as a committed transaction has written them. Returns the numbers. */
async function write(count: number): Promise<number[]> {
  const numbers = Array.from({ length: count }, (_, index) => written + index + 1);
  written += count;
  await test.rows(
    `insert into outbound_event (type, subject, data)
     select 'entitlements.changed', 'subject', json_build_object('userId', null, 'n', n)
     from unnest($1::int[]) with ordinality as given (n, place) order by place`,
    [numbers],
  );
  return numbers;
}

/** Also waits for the server's own relay, which may be running. */
async function relayed(): Promise<void> {
  await eventually(async () => {
    const traits = perSlot(() => traitsOf("stripe"));
    await relayEvents({ database: test.database, plans, traits });
    const rows = await test.rows("select from outbound_event where position is null");
    return rows.length;
  }, 0);
}

describe("GET /api/events", () => {
  it("lists events oldest first, in pages that never skip one", async () => {
    const begin = await newest();
    const numbers = await write(5);
    await relayed();
    const receivedNumbers: number[] = [];
    let after = begin;
    for (const size of [2, 2, 1]) {
      const { status, body } = await list(`?after=${after}&limit=2`);
      expect([status, body.events.length]).toEqual([200, size]);
      receivedNumbers.push(...body.events.map((event: Listed) => event.data.n));
      expect(body.nextCursor).toBe(body.events.at(-1).id);
      after = body.nextCursor;
    }
    expect(receivedNumbers).toEqual(numbers);
    expect((await list(`?after=${after}`)).body).toEqual({ events: [], nextCursor: after });
    expect((await list(`?after=${after}`, "v2")).body).toEqual({ data: [], nextCursor: after });
  });

  it("shows an event as it is sent to endpoints", async () => {
    const begin = await newest();
    await test.rows(`update "user" set name = 'Renamed' where id = $1`, [user.id]);
    await relayed();
    expect((await list(`?after=${begin}`, "v2")).body.data).toEqual([
      {
        id: expect.stringMatching(/^evt_[0-9a-f]{24}$/),
        type: "user.updated",
        occurredAt: expect.stringMatching(/^\d{4}-.*Z$/),
        version: "v2",
        data: { id: user.id, externalId: null },
      },
    ]);
  });

  it("starts with the oldest event without a cursor", async () => {
    const { body } = await list("?limit=1");
    expect(body.events).toMatchObject([{ type: "user.created", data: { id: user.id } }]);
  });

  it.each(["", "evt_1", "latest", `evt_${"f".repeat(24)}`])(
    "returns 400 for the cursor %j",
    async (after) => {
      const { status, body } = await list(`?after=${after}`, "v2");
      expect([status, body.reason, body.params.field]).toEqual([400, "invalid_input", "after"]);
    },
  );

  it("returns 400 for an id with the position of another event", async () => {
    await write(1);
    await relayed();
    const position = await newest();
    const otherPosition = position.slice(0, -1) + (position.endsWith("0") ? "1" : "0");
    expect((await list(`?after=${otherPosition}`)).status).toBe(400);
  });

  it("requires a service key with events:read", async () => {
    const { key: usersKey } = await createKey(server.url, user);
    const { key: keyWithoutPermission } = await createServiceKey(test, { permissions: ["users:read"] });
    const refused = async (as: { key?: string; cookie?: string }) => {
      const { status, body } = await list("", "v2", as);
      return [status, body.reason];
    };
    expect(await refused({})).toEqual([401, "unauthorized"]);
    expect(await refused({ cookie: user.cookie })).toEqual([403, "forbidden"]);
    expect(await refused({ key: usersKey })).toEqual([403, "forbidden"]);
    expect(await refused({ key: keyWithoutPermission })).toEqual([403, "missing_permission"]);
  });

  it("is charged to the key's own limit", async () => {
    const { key: own } = await createServiceKey(test, { limit: 1, windowSeconds: 3_600 });
    expect((await list("", "v1", { key: own })).status).toBe(200);
    expect((await list("", "v1", { key: own })).status).toBe(429);
  });
});

function open(query = "", headers: Record<string, string> = {}, as = key): Promise<ReadEventStream> {
  const opening = openEventStream(`${server.url}/api/events/stream${query}`, as, headers);
  return opening.then((stream) => {
    streams.push(stream);
    return stream;
  });
}

const numbersOf = (stream: ReadEventStream) => async () =>
  stream.events.map(({ data }) => (JSON.parse(data) as Listed).data.n);

describe("GET /api/events/stream", () => {
  it("sends new events, with id, type and data", async () => {
    const before = await newest();
    const [first, second] = [await open(), await open()];
    expect(first.contentType).toBe("text/event-stream");
    const numbers = await write(3);
    for (const stream of [first, second]) await eventually(numbersOf(stream), numbers);
    const { body } = await list(`?after=${before}`, "v2");
    expect(first.events.map(({ id, event, data }) => ({ id, event, data: JSON.parse(data) }))).toEqual(
      body.data.map((event: Listed) => ({ id: event.id, event: event.type, data: event })),
    );
    const later = await write(2);
    await eventually(numbersOf(second), [...numbers, ...later]);
  });

  it("continues after Last-Event-ID, which comes before the query string, or after ?after=", async () => {
    const begin = await newest();
    const numbers = await write(250);
    await relayed();
    const { body } = await list(`?after=${begin}&limit=100`);
    const last = body.nextCursor;
    const byHeader = await open(`?after=${begin}`, { "last-event-id": last });
    const byQuery = await open(`?after=${begin}`);
    await eventually(numbersOf(byHeader), numbers.slice(100));
    await eventually(numbersOf(byQuery), numbers);
    const later = await write(1);
    await eventually(numbersOf(byHeader), [...numbers.slice(100), ...later]);
  });

  it("says where it begins, so that a client without an event yet can continue", async () => {
    const begin = await newest();
    const stream = await open();
    const continued = await open(`?after=${begin}`);
    await eventually(async () => stream.comments[0], `connected\nid: ${begin}` as string | undefined);
    await eventually(async () => continued.comments[0], "connected" as string | undefined);
  });

  it("sends comments while nothing happens", async () => {
    const stream = await open();
    await eventually(
      async () => stream.comments.filter((comment) => comment === "keep-alive").length > 1,
      true,
    );
  });

  it("ends when the key is revoked", async () => {
    const ownKey = await createServiceKey(test);
    const [ofRevokedKey, remaining] = [await open("", {}, ownKey.key), await open()];
    await test.rows("update service_key set revoked_at = now() where id = $1", [ownKey.id]);
    await eventually(async () => ofRevokedKey.isEnded(), true);
    const numbers = await write(1);
    await eventually(numbersOf(remaining), numbers);
  });

  it("sends nothing that happens after the key was revoked", async () => {
    const slow = await start({ eventHeartbeatMs: 10_000 });
    try {
      const ownKey = await createServiceKey(test);
      const stream = await openEventStream(`${slow.url}/api/events/stream`, ownKey.key);
      streams.push(stream);
      await test.rows("update service_key set revoked_at = now() where id = $1", [ownKey.id]);
      await write(1);
      await eventually(async () => stream.isEnded(), true);
      expect(stream.events).toEqual([]);
    } finally {
      await slow.close();
    }
  });

  it("ends when the key expires", async () => {
    const ownKey = await createServiceKey(test);
    const stream = await open("", {}, ownKey.key);
    await test.rows("update service_key set expires_at = now() - interval '1 second' where id = $1", [
      ownKey.id,
    ]);
    await eventually(async () => stream.isEnded(), true);
  });

  it("refuses more than five streams of a key at once", async () => {
    const ownKey = await createServiceKey(test);
    const opened = [];
    for (let n = 0; n < 5; n += 1) opened.push(await open("", {}, ownKey.key));
    const refused = await sendRequest(server.url, "GET", "/api/v2/events/stream", { key: ownKey.key });
    expect([refused.status, refused.body.reason]).toEqual([429, "rate_limited"]);
    expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
    await opened[0]?.close();
    await eventually(async () => {
      const stream = await open("", {}, ownKey.key).catch(() => null);
      return stream !== null;
    }, true);
  });

  it("answers HEAD without a stream", async () => {
    const ownKey = await createServiceKey(test);
    for (let n = 0; n < 7; n += 1) {
      expect((await sendRequest(server.url, "HEAD", "/api/events/stream", { key: ownKey.key })).status).toBe(
        200,
      );
    }
  });

  it("refuses callers who may not list events, and unknown cursors", async () => {
    const refused = async (as: object, query = "") => {
      const { status, body } = await sendRequest(server.url, "GET", `/api/v2/events/stream${query}`, as);
      return [status, body.reason];
    };
    expect(await refused({})).toEqual([401, "unauthorized"]);
    expect(await refused({ cookie: user.cookie })).toEqual([403, "forbidden"]);
    expect(await refused({ key }, "?after=evt_1")).toEqual([400, "invalid_input"]);
    expect(await refused({ key, headers: { "last-event-id": "evt_1" } })).toEqual([400, "invalid_input"]);
    expect(await refused({ key }, "?nothing=1")).toEqual([400, "invalid_input"]);
  });

  it("names Last-Event-ID when that is refused, be it malformed or unknown", async () => {
    const neverGiven = `evt_${"f".repeat(24)}`;
    for (const id of ["bogus", neverGiven]) {
      const { body } = await sendRequest(server.url, "GET", `/api/events/stream?after=${await newest()}`, {
        key,
        headers: { "last-event-id": id },
      });
      expect(body.error).toMatch(/^Last-Event-ID: expected the id of an event/);
      const byQuery = await sendRequest(server.url, "GET", `/api/events/stream?after=${id}`, { key });
      expect(byQuery.body.error).toMatch(/^after: expected the id of an event/);
    }
  });

  it("ends when the server stops", async () => {
    const another = await start();
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch(`${another.url}/api/events/stream`, { headers });
    // Fails when the connection is cut, as at the end of the time that a stop may take.
    const text = response.text();
    await another.close();
    expect(await text).toMatch(/^: connected\nid: evt_/);
  });
});

describe("events that are no longer kept", () => {
  it("return 410 when the cursor would miss some, and not otherwise", async () => {
    const first = (await list("?limit=1")).body.nextCursor;
    await write(1);
    await relayed();
    const last = await newest();
    await test.rows("update outbound_event set occurred_at = now() - interval '31 days'");
    await dropOutbound(test.database, { olderThanDays: 30, limit: 10_000 });
    for (const path of ["/api/v2/events", "/api/v2/events/stream"]) {
      const { status, body } = await sendRequest(server.url, "GET", `${path}?after=${first}`, { key });
      expect([path, status, body.reason]).toEqual([path, 410, "events_dropped"]);
    }
    expect((await list(`?after=${last}`)).body).toEqual({ events: [], nextCursor: last });
    const { body } = await list();
    expect(body).toEqual({ events: [], nextCursor: expect.any(String) });
    const numbers = await write(1);
    await relayed();
    const next = (await list(`?after=${body.nextCursor}`)).body.events;
    expect(next.map((event: Listed) => event.data.n)).toEqual(numbers);
  });

  it("are skipped, with all before them, by a list that begins with the oldest event", async () => {
    const begin = await newest();
    await write(3);
    await relayed();
    const [, second] = (await list(`?after=${begin}`)).body.events;
    // The clock was wrong when the first one was written.
    await test.rows("update outbound_event set occurred_at = now() - interval '31 days' where id = $1", [
      second.id,
    ]);
    await dropOutbound(test.database, { olderThanDays: 30, limit: 10_000 });
    const pages: number[] = [];
    let query = "?limit=1";
    for (;;) {
      const { status, body } = await list(query);
      expect(status, JSON.stringify(body)).toBe(200);
      if (body.events.length === 0) break;
      pages.push(body.events[0].data.n);
      query = `?limit=1&after=${body.nextCursor}`;
    }
    expect(pages.at(-1)).toBe(written);
  });
});
