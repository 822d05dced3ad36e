import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshServer } from "../support/fresh-server.ts";
import { sendRequest } from "../support/http.ts";
import { createAdmin, createKey, createUser, type TestUser } from "../support/people.ts";
import { withoutAudit } from "../support/without-audit.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

const { test, server } = freshServer({
  variables: { OUTBOUND_ALLOW: "127.0.0.1", RATE_LIMIT_ADMIN: "1000/60" },
});
let admin: TestUser;
let receiver: Receiver;
let status = 200;
beforeAll(async () => {
  admin = await createAdmin(test);
  receiver = await startReceiver((response) => void response.writeHead(status).end());
});
afterAll(async () => {
  await receiver.close();
});
beforeEach(async () => {
  status = 200;
  receiver.received.length = 0;
  await test.rows("delete from event_endpoint");
});

function call(method: string, path: string, body?: unknown, cookie = admin.cookie) {
  return sendRequest(server.url, method, `/api/event-endpoints${path}`, { cookie, body });
}

async function create(types: readonly string[] = ["user.updated"]) {
  const response = await call("POST", "", { url: receiver.url, types });
  expect(response.status).toBe(201);
  return response.body as { id: string; secret: string };
}

async function deliveries(id: string) {
  return (await call("GET", `/${id}/deliveries`)).body.deliveries as {
    id: string;
    status: string;
    attempts: unknown[];
  }[];
}

function renameAdmin(name: string) {
  return test.rows(`update "user" set name = $2 where id = $1`, [admin.id, name]);
}

describe("POST /api/event-endpoints", () => {
  it("returns the endpoint with its secret, which is shown nowhere else", async () => {
    const created = await call("POST", "", { url: receiver.url, types: ["user.updated", "user.updated"] });
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      id: expect.any(String),
      url: receiver.url,
      types: ["user.updated"],
      enabled: true,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      createdAt: expect.any(String),
    });
    const { secret } = created.body;
    for (const path of ["", `/${created.body.id}`, `/${created.body.id}/deliveries`]) {
      expect((await call("GET", path)).text).not.toContain(secret);
    }
    expect((await call("GET", "")).body.endpoints).toMatchObject([
      { id: created.body.id, description: null },
    ]);
  });

  it.each([
    "http://example.com/hook",
    "https://10.0.0.1/",
    "https://169.254.169.254/",
    "https://[::1]/",
    "https://localhost/",
    "https://a:b@example.com/",
    "https://example.com/ho\nok",
    "not a url",
  ])("refuses %j", async (url) => {
    const response = await sendRequest(server.url, "POST", "/api/v2/event-endpoints", {
      cookie: admin.cookie,
      body: { url, types: ["user.created"] },
    });
    expect(response).toMatchObject({ status: 400, body: { reason: "url_not_allowed" } });
  });

  it("refuses unknown and missing types", async () => {
    for (const types of [["user.eaten"], [], undefined]) {
      expect((await call("POST", "", { url: receiver.url, types })).status).toBe(400);
    }
  });

  it("requires an administrator's session", async () => {
    const person = await createUser(test);
    const { key } = await createKey(server.url, admin);
    expect((await call("GET", "", undefined, person.cookie)).status).toBe(403);
    expect((await sendRequest(server.url, "GET", "/api/event-endpoints", { key })).status).toBe(403);
    expect((await sendRequest(server.url, "GET", "/api/event-endpoints")).status).toBe(401);
  });
});

it("receives the events that follow its creation, and lists them with their attempts", async () => {
  const { id, secret } = await create();
  await renameAdmin("Renamed Once");
  await eventually(async () => receiver.received.length, 1);
  const [request] = receiver.received;
  const event = new Webhook(secret).verify(
    request?.body as string,
    request?.headers as Record<string, string>,
  );
  expect(event).toMatchObject({ type: "user.updated", data: { id: admin.id, externalId: null } });
  await eventually(async () => (await deliveries(id)).map((delivery) => delivery.status), ["delivered"]);
  expect(await deliveries(id)).toMatchObject([
    {
      eventId: request?.event.id,
      eventType: "user.updated",
      nextAttemptAt: null,
      attempts: [{ attempt: 1, responseStatus: 200, error: null, durationMs: expect.any(Number) }],
    },
  ]);
});

it("receives nothing while it is paused, and no other types of event", async () => {
  const { id } = await create(["user.deleted"]);
  const otherEndpoint = await create();
  const paused = await call("PATCH", `/${otherEndpoint.id}`, { enabled: false });
  expect(paused).toMatchObject({ status: 200, body: { enabled: false } });
  const relayed = async () => (await test.rows("select from outbound_event where position is null")).length;
  await renameAdmin("Renamed Twice");
  await eventually(relayed, 0);
  await call("PATCH", `/${otherEndpoint.id}`, { enabled: true });
  await renameAdmin("Renamed Thrice");
  await eventually(
    async () => (await deliveries(otherEndpoint.id)).map((delivery) => delivery.status),
    ["delivered"],
  );
  expect(receiver.received).toHaveLength(1);
  expect(await deliveries(id)).toEqual([]);
});

it("changes its URL, types and secret, and keeps the old secret valid beside the new one", async () => {
  const { id, secret } = await create();
  const url = `${receiver.url}/other`;
  const changed = await call("PATCH", `/${id}`, {
    url,
    types: ["user.created", "user.updated"],
    rotateSecret: true,
  });
  expect(changed).toMatchObject({ status: 200, body: { url, types: ["user.created", "user.updated"] } });
  expect(changed.body.secret).toMatch(/^whsec_/);
  expect(changed.body.secret).not.toBe(secret);
  await renameAdmin("Renamed Again");
  await eventually(async () => receiver.received.length, 1);
  for (const by of [secret, changed.body.secret]) {
    const [request] = receiver.received;
    new Webhook(by).verify(request?.body as string, request?.headers as Record<string, string>);
  }
  expect(await call("PATCH", `/${id}`, { url: "https://10.0.0.1/" })).toMatchObject({ status: 400 });
  expect((await call("PATCH", "/00000000-0000-4000-8000-000000000000", { enabled: true })).status).toBe(404);
});

it("returns 400 for a change without a field", async () => {
  const { id } = await create();
  for (const nothing of [{}, { rotateSecret: false }])
    expect(await call("PATCH", `/${id}`, nothing)).toMatchObject({
      status: 400,
      body: { error: "expected at least one field to change" },
    });
});

it("sends an example event as a test, and returns and logs the response", async () => {
  const { id, secret } = await create(["subscription.ended", "payment.paid"]);
  const tested = await call("POST", `/${id}/test`, {});
  expect(tested).toMatchObject({ status: 200, body: { delivered: true, responseStatus: 200, error: null } });
  const [request] = receiver.received;
  const event = new Webhook(secret).verify(
    request?.body as string,
    request?.headers as Record<string, string>,
  );
  expect(event).toMatchObject({ id: tested.body.eventId, type: "subscription.ended", version: "v2" });
  status = 500;
  expect((await call("POST", `/${id}/test`, { type: "payment.paid" })).body).toMatchObject({
    delivered: false,
    responseStatus: 500,
  });
  expect((await deliveries(id)).map((delivery) => [delivery.status, delivery.attempts.length])).toEqual([
    ["failed", 1],
    ["delivered", 1],
  ]);
});

it("replays one delivery, or every failed one, with the same event ids", async () => {
  const { id } = await create();
  await renameAdmin("Replayed");
  await eventually(async () => (await deliveries(id)).map((delivery) => delivery.status), ["delivered"]);
  const [first] = await deliveries(id);
  const replayed = await call("POST", `/${id}/replay`, { deliveryIds: [first?.id] });
  expect(replayed).toMatchObject({ status: 200, body: { replayed: 1 } });
  await eventually(async () => receiver.received.length, 2);
  expect(receiver.received[1]?.event).toEqual(receiver.received[0]?.event);
  await eventually(async () => (await deliveries(id)).map((delivery) => delivery.attempts.length), [2]);

  await test.rows("update outbound_delivery set status = 'failed'");
  expect((await call("POST", `/${id}/replay`, {})).body).toEqual({ replayed: 1 });
  await eventually(async () => receiver.received.length, 3);
  expect((await call("POST", `/${id}/replay`, { deliveryIds: ["999999"] })).body).toEqual({ replayed: 0 });
});

it("neither lists nor replays the deliveries of another endpoint", async () => {
  const { id } = await create();
  const other = await create(["user.deleted"]);
  await renameAdmin("Of Another");
  await eventually(async () => (await deliveries(id)).map((delivery) => delivery.status), ["delivered"]);
  await test.rows("update outbound_delivery set status = 'failed'");
  const [delivery] = await deliveries(id);
  expect(await deliveries(other.id)).toEqual([]);
  for (const body of [{ deliveryIds: [delivery?.id] }, {}])
    expect((await call("POST", `/${other.id}/replay`, body)).body).toEqual({ replayed: 0 });
  expect((await deliveries(id)).map(({ status }) => status)).toEqual(["failed"]);
});

it("replays the deliveries that have failed since a time, however early", async () => {
  const { id } = await create();
  await renameAdmin("Failed");
  await eventually(async () => (await deliveries(id)).map((delivery) => delivery.status), ["delivered"]);
  for (const [since, replayed] of [
    [new Date(Date.now() + 60_000).toISOString(), 0],
    ["0000-01-01T00:00:00Z", 1],
  ]) {
    await test.rows("update outbound_delivery set status = 'failed'");
    expect((await call("POST", `/${id}/replay`, { since })).body).toEqual({ replayed });
  }
});

it("refuses to replay given deliveries and those since a time at once", async () => {
  const { id } = await create();
  const body = { deliveryIds: ["1"], since: "2026-01-01T00:00:00Z" };
  expect(await call("POST", `/${id}/replay`, body)).toMatchObject({
    status: 400,
    body: { error: "since: cannot be given together with deliveryIds" },
  });
});

it("replays every failed delivery, however many there are", async () => {
  const { id } = await create();
  await call("PATCH", `/${id}`, { enabled: false });
  await test.rows(
    `with event as (
       insert into outbound_event (type, subject, data, position, id)
       select 'user.updated', 's', '{}', 1000000 + n, 'evt_' || n from generate_series(1, 10001) n
       returning id, type, position
     )
     insert into outbound_delivery (endpoint_id, event_id, event_type, position, subject, status, give_up_at)
     select $1, id, type, position, 'subject ' || position, 'failed', now() from event`,
    [id],
  );
  expect((await call("POST", `/${id}/replay`, {})).body).toEqual({ replayed: 10_001 });
});

it("is deleted with its log", async () => {
  const { id } = await create();
  await call("POST", `/${id}/test`, {});
  expect(await call("DELETE", `/${id}`)).toMatchObject({ status: 200, body: { success: true } });
  expect((await call("GET", `/${id}`)).status).toBe(404);
  expect((await call("DELETE", `/${id}`)).status).toBe(404);
  expect(await test.rows("select from outbound_delivery where endpoint_id = $1", [id])).toEqual([]);
});

it("holds up no events of others while its log is deleted", async () => {
  const { id } = await create(["user.deleted"]);
  await create();
  await call("POST", `/${id}/test`, {});
  let deleting: Promise<unknown> = Promise.resolve();
  const holder = await test.database.connection();
  try {
    await holder.run({ name: "begin", text: "begin" });
    await holder.run(
      { name: "hold", text: "select from outbound_delivery where endpoint_id = $1::uuid for update" },
      [id],
    );
    const before = receiver.received.length;
    deleting = call("DELETE", `/${id}`);
    await eventually(
      () =>
        test.rows(
          "select count(*) > 0 as waits from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
        ),
      [{ waits: true }],
    );
    await renameAdmin("Renamed During Deletion");
    await eventually(async () => receiver.received.length, before + 1);
  } finally {
    await holder.run({ name: "commit", text: "commit" });
    holder.release({ healthy: true });
  }
  expect(await deleting).toMatchObject({ status: 200, body: { success: true } });
});

it("records a test and its audit entry together or not at all", async () => {
  const { id } = await create();
  await withoutAudit(test, async () => {
    expect((await call("POST", `/${id}/test`, {})).status).toBe(500);
  });
  expect(await deliveries(id)).toEqual([]);
});

it("records what administrators change in the audit log, without the secret", async () => {
  const { id, secret } = await create();
  await call("PATCH", `/${id}`, { rotateSecret: true });
  await call("POST", `/${id}/replay`, {});
  const tested = await call("POST", `/${id}/test`, {});
  await call("DELETE", `/${id}`);
  const entries = await test.rows<{ action: string; details: unknown }>(
    "select action, details from audit_entry where target_id = $1 order by id",
    [id],
  );
  expect(entries.map(({ action }) => action)).toEqual([
    "event_endpoint.created",
    "event_endpoint.changed",
    "event_endpoint.replayed",
    "event_endpoint.tested",
    "event_endpoint.deleted",
  ]);
  const { eventId } = tested.body;
  expect(entries.at(-2)?.details).toMatchObject({ eventId, delivered: true, responseStatus: 200 });
  expect(JSON.stringify(entries)).not.toContain(secret);
});
