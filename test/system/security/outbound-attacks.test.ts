import { randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { createUser } from "../../support/people.ts";
import { openRawConnection } from "../../support/raw-connection.ts";
import { createServiceKey } from "../../support/service-keys.ts";
import { totp } from "../../support/totp.ts";
import { GENEROUS_LIMITS } from "../../support/variables.ts";
import { securityContext } from "./owasp/security-context.ts";
import { type Attack, send } from "./owasp/send.ts";

const context = securityContext();
const UNKNOWN_ID = "0d4c2f6e-6c3b-4a53-9d0a-3f1f6a0e7b11";

type Listening = { server: Server; url: string; requests: string[] };

/** A server on this machine that records its requests. */
async function listening(answer: (url: string) => { status: number; headers?: object; body?: string }) {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    request.resume();
    const { status, headers = {}, body = "" } = answer(request.url ?? "");
    response.writeHead(status, headers as Record<string, string>).end(body);
  });
  await new Promise<void>((listens) => server.listen(0, "127.0.0.1", listens));
  return { server, requests, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe("an outbound endpoint", () => {
  let url: string;
  let allowed: Listening;
  let internal: Listening;
  const answers: Record<string, { status: number; headers?: object; body?: string }> = {};
  beforeAll(async () => {
    internal = await listening(() => ({ status: 200, body: "an internal secret" }));
    allowed = await listening((path) => answers[path] ?? { status: 204 });
    url = await context.serverWith({ ...GENEROUS_LIMITS, OUTBOUND_ALLOW: new URL(allowed.url).host });
  });
  afterAll(() => {
    for (const { server } of [allowed, internal]) server.close().closeAllConnections();
  });
  const call = (request: string, attack: Attack = {}) =>
    send(url, request.replace(" /", " /api/v2/event-endpoints/").replace(/\/$/, ""), {
      cookie: context.admin.cookie,
      ...attack,
    });
  const create = async (path: string) => {
    const created = await call("POST /", { body: { url: `${allowed.url}${path}`, types: ["user.created"] } });
    expect(created.status, created.text).toBe(201);
    return created.body as { id: string; secret: string };
  };

  const INTERNAL = [
    "https://127.0.0.1:5432/",
    "https://[::ffff:169.254.169.254]/",
    "https://[::ffff:a9fe:a9fe]/",
    "https://[64:ff9b::7f00:1]/",
    "https://[::127.0.0.1]/",
    "https://[fe80::1]/",
    "https://0/",
    "https://0.0.0.0/",
    "https://017700000001/",
    "https://①②⑦.⓪.⓪.①/",
    "https://127。0。0。1/",
    "https:\\\\127.0.0.1\\",
    "https:127.0.0.1",
    "https://127.0.0.1#@example.com/",
    "https://127.0.0.1?@example.com/",
    "https://LOCALHOST/",
    "https://localhost%2e/",
    "https://x.localhost./",
    "https://metadata.localhost/",
    "https://example.com@127.0.0.1/",
    "http://1.1.1.1/",
    "\thttps://127.0.0.1/",
    "https://127.0.0.1/\r\nX-Injected: yes",
    "gopher://127.0.0.1:6379/_FLUSHALL",
    "unix:///var/run/docker.sock",
  ];

  it.each(INTERNAL)("cannot be created at %j, or changed to it", async (target) => {
    const refused = { status: 400, body: { reason: "url_not_allowed" } };
    expect(await call("POST /", { body: { url: target, types: ["user.created"] } })).toMatchObject(refused);
    const { id } = await create("/");
    expect(await call(`PATCH /${id}`, { body: { url: target } })).toMatchObject(refused);
  });

  it.each([301, 302, 303, 307, 308])(
    "does not lead to an internal address by a redirect %i",
    async (status) => {
      answers["/redirect"] = { status, headers: { location: `${internal.url}/admin` } };
      const { id } = await create("/redirect");
      const tested = await call(`POST /${id}/test`, { body: {} });
      expect(tested.body).toMatchObject({ delivered: false, responseStatus: status });
      expect(internal.requests).toEqual([]);
    },
  );

  it("shows nothing of a response but its status", async () => {
    answers["/talkative"] = { status: 500, headers: { "x-internal": "token" }, body: "an internal secret" };
    const { id } = await create("/talkative");
    const tested = await call(`POST /${id}/test`, { body: {} });
    const listed = await call(`GET /${id}/deliveries`);
    expect(tested.body).toMatchObject({ delivered: false, responseStatus: 500 });
    for (const { text } of [tested, listed]) expect(text).not.toMatch(/internal|token/);
  });

  it("stops reading an endless response", async () => {
    answers["/endless"] = { status: 200, body: "x".repeat(8_000_000) };
    const { id } = await create("/endless");
    expect((await call(`POST /${id}/test`, { body: {} })).body).toMatchObject({ delivered: true });
  });

  it("does not send headers or methods chosen by the caller", async () => {
    const before = allowed.requests.length;
    const { id } = await create("/plain%0d%0aX-Injected:%20yes");
    await call(`POST /${id}/test`, { body: {}, headers: { "x-http-method-override": "DELETE" } });
    expect(allowed.requests.slice(before)).toEqual(["POST /plain%0d%0aX-Injected:%20yes"]);
  });

  it("requires an administrator's session: no user, API key or service key has access", async () => {
    const { id, secret } = await create("/");
    const { key } = await createServiceKey(context.test);
    const callers = [{ cookie: context.attacker.cookie }, { key: context.admin.key }, { key }];
    for (const caller of callers) {
      for (const request of ["GET /", `GET /${id}`, `GET /${id}/deliveries`]) {
        const answer = await send(
          url,
          request.replace(" /", " /api/event-endpoints/").replace(/\/$/, ""),
          caller,
        );
        expect([request, answer.status]).toEqual([request, 403]);
        expect(answer.text).not.toContain(secret);
      }
      for (const request of [`PATCH /${id}`, `POST /${id}/test`, `POST /${id}/replay`]) {
        const answer = await send(url, request.replace(" /", " /api/event-endpoints/"), {
          ...caller,
          body: {},
        });
        expect([request, answer.status]).toEqual([request, 403]);
      }
      expect((await send(url, `DELETE /api/event-endpoints/${id}`, caller)).status).toBe(403);
    }
    expect((await call(`GET /${id}`)).status).toBe(200);
  });

  it("never shows its secret again", async () => {
    const { id, secret } = await create("/");
    const bare = secret.replace("whsec_", "");
    const responses = [
      await call("GET /"),
      await call(`GET /${id}`),
      await call(`PATCH /${id}`, { body: { enabled: false } }),
      await send(url, "GET /api/audit?limit=100", { cookie: context.admin.cookie }),
    ];
    for (const { status, text } of responses) {
      expect(status).toBe(200);
      expect(text).not.toContain(bare);
    }
  });

  it.each<[string, object]>([
    ["a thousand types", { types: Array(1_000).fill("user.created") }],
    ["a type of an object's", { types: ["__proto__"] }],
    ["no types", { types: [] }],
    ["a long URL", { url: `https://example.com/${"a".repeat(10_000)}` }],
    ["a long description", { description: "d".repeat(10_000) }],
    ["a secret of one's choice", { secret: "whsec_chosen" }],
    ["another owner", { createdBy: "user_0" }],
    ["a plugin's hook", { hook: "renewals" }],
  ])("is refused with %s", async (_, fields) => {
    const body = { url: allowed.url, types: ["user.created"], ...fields };
    expect((await call("POST /", { body })).status).toBe(400);
  });

  it.each<[string, object]>([
    ["a thousand and one deliveries", { deliveryIds: Array.from({ length: 1_001 }, (_, n) => `${n + 1}`) }],
    ["a delivery's id in SQL", { deliveryIds: ["1; drop table session"] }],
    ["an id beyond the numbers", { deliveryIds: ["9".repeat(40)] }],
    ["a time in words", { since: "yesterday" }],
  ])("does not replay %s", async (_, body) => {
    const { id } = await create("/");
    expect((await call(`POST /${id}/replay`, { body })).status).toBe(400);
  });

  it("does not replay the deliveries of another endpoint", async () => {
    const [tested, untested] = [await create("/"), await create("/")];
    await call(`POST /${tested.id}/test`, { body: {} });
    const [delivery] = (await call(`GET /${tested.id}/deliveries`)).body.data;
    const answer = await call(`POST /${untested.id}/replay`, { body: { deliveryIds: [delivery.id] } });
    expect(answer.body).toEqual({ replayed: 0 });
  });

  it("does not reveal to others which ids exist", async () => {
    const { id } = await create("/");
    const textFor = async (target: string) =>
      (await send(url, `GET /api/event-endpoints/${target}`, { cookie: context.attacker.cookie })).text;
    expect(await textFor(id)).toBe(await textFor(UNKNOWN_ID));
  });
});

describe("the list and stream of events", () => {
  it.each([
    "after=-1",
    "after=0",
    "after=99999999999999999999999",
    "after=%00",
    "after=evt_%27%20or%201%3D1",
    "after=a&after=b",
    "limit=0",
    "limit=1000000",
    "limit=1e2",
    "select=*",
    "user=victim",
  ])("reveals nothing for ?%s", async (query) => {
    const { key } = await createServiceKey(context.test, { permissions: ["events:read"] });
    for (const path of ["events", "events/stream"]) {
      const answer = await send(context.url, `GET /api/${path}?${query}`, { key });
      expect([path, answer.status]).toEqual([path, 400]);
    }
  });

  it.each(["%s", "x".repeat(7_000), "evt_1\tevt_2", "-1", "null"])(
    "is not confused by the Last-Event-ID %j",
    async (id) => {
      const { key } = await createServiceKey(context.test, { permissions: ["events:read"] });
      const answer = await send(context.url, "GET /api/events/stream", {
        key,
        headers: { "last-event-id": id },
      });
      expect(answer.status).toBe(400);
    },
  );

  it("frees the places of broken streams, and refuses a sixth stream", async () => {
    const { key } = await createServiceKey(context.test, { permissions: ["events:read"] });
    const open = async () => {
      const aborting = new AbortController();
      const headers = { authorization: `Bearer ${key}` };
      // The response is kept: the garbage collector would end its stream.
      const response = await fetch(`${context.url}/api/events/stream`, {
        headers,
        signal: aborting.signal,
      });
      return response.status === 200 ? { response, abort: () => aborting.abort() } : null;
    };
    for (let round = 0; round < 4; round += 1) {
      const streams: { response: Response; abort(): void }[] = [];
      // The server notices a moment later that the streams of the previous round are closed.
      await eventually(async () => {
        const stream = await open();
        if (stream) streams.push(stream);
        return streams.length;
      }, 5);
      expect(await open()).toBeNull();
      for (const stream of streams) stream.abort();
    }
  });

  it("requires a service key: no session, API key or anonymous caller has access", async () => {
    for (const [caller, status] of [
      [{ cookie: context.admin.cookie }, 403],
      [{ key: context.admin.key }, 403],
      [{}, 401],
    ] as const) {
      for (const path of ["events", "events/stream"])
        expect((await send(context.url, `GET /api/${path}`, caller)).status).toBe(status);
    }
  });
});

describe("GraphQL's newer fields", () => {
  const flood = (field: string, count: number) =>
    `{ ${Array.from({ length: count }, (_, n) => `a${n}: ${field}`).join(" ")} }`;

  it.each([
    "payments(limit: 100) { items { id } }",
    "entitlements { planId }",
    'check(feature: "events") { allowed }',
    'check(feature: "events", amount: 2147483647) { allowed }',
    "currentSubscription { planId }",
  ])("are not run a hundred times by aliases: %s", async (field) => {
    const answer = await send(context.url, "POST /api/graphql", {
      cookie: context.attacker.cookie,
      body: { query: flood(field, 100) },
    });
    expect(answer.status).toBeLessThan(500);
    expect(answer.body.errors.length).toBeGreaterThan(0);
    expect(answer.body.data ?? null).toBeNull();
  });

  it.each([
    'check(feature: "events", user: "VICTIM") { remaining }',
    'entitlements(user: "VICTIM") { planId }',
    'payments(user: "VICTIM") { items { id } }',
    'currentSubscription(externalId: "shop-1") { planId }',
  ])("do not return another user's data: %s", async (field) => {
    const query = `{ ${field.replace("VICTIM", context.victim.id)} }`;
    const { body } = await send(context.url, "POST /api/graphql", {
      cookie: context.attacker.cookie,
      body: { query },
    });
    expect(body.errors.length).toBeGreaterThan(0);
    expect(JSON.stringify(body.data ?? null)).not.toContain(context.victim.id);
  });
});

describe("guesses", () => {
  it("of second factors are limited over all sign-ins of an account", async () => {
    const { cookie, password, email } = await signUpWithTwoFactor();
    const verify = async (path: string, code: string, pending: string) =>
      send(context.url, `POST /api/auth/two-factor/${path}`, { cookie: pending, body: { code } });
    const signIn = async () => {
      const { fields } = await send(context.url, "POST /api/auth/sign-in/email", {
        body: { email, password },
      });
      return (fields["set-cookie"] ?? []).map((cookie) => cookie.split(";")[0]).join("; ");
    };
    const statuses: number[] = [];
    for (let n = 0; n < 4; n += 1) {
      const pending = await signIn();
      for (let tries = 0; tries < 4; tries += 1)
        statuses.push(
          (await verify(n % 2 ? "verify-totp" : "verify-backup-code", n % 2 ? "000000" : "guess", pending))
            .status,
        );
    }
    expect(statuses).not.toContain(200);
    expect(statuses.at(-1)).toBe(429);
    // A signed-in user is not locked out.
    expect((await send(context.url, "GET /api/users/me", { cookie })).status).toBe(200);
  });

  it.each(["", "a", "0".repeat(64), "..%2f..", "%00", "a".repeat(4_000)])(
    "of a calendar's secret address find nothing: %s",
    async (token) => {
      for (const query of [`?token=${token}`, `?user=${context.victim.id}&token=${token}`]) {
        const answer = await send(context.url, `GET /api/plugins/renewals/calendar.ics${query}`);
        expect(answer.status).toBeGreaterThanOrEqual(400);
        expect(answer.status).toBeLessThan(500);
        expect(answer.text).not.toContain("VCALENDAR");
      }
    },
  );

  it("of ids of payments' subscriptions reveal nothing", async () => {
    const { cookie } = await createUser(context.test);
    const [victimsId] = context.victim.subscriptionIds;
    for (const path of [`subscriptions/ID`, "subscriptions/ID/history", "subscriptions/ID/last-change"]) {
      const textOf = async (id: string | undefined) => {
        const { status, text } = await send(context.url, `GET /api/${path.replace("ID", String(id))}`, {
          cookie,
        });
        return { status, text };
      };
      expect(await textOf(victimsId)).toEqual(await textOf(UNKNOWN_ID));
    }
  });

  async function signUpWithTwoFactor() {
    const password = "a password of some length";
    const email = `two-factor-${randomUUID()}@example.com`;
    const cookieIn = ({ fields }: Awaited<ReturnType<typeof send>>) =>
      (fields["set-cookie"] ?? []).map((cookie) => cookie.split(";")[0]).join("; ");
    const body = { name: "Two", email, password };
    let cookie = cookieIn(await send(context.url, "POST /api/auth/sign-up/email", { body }));
    const enabled = await send(context.url, "POST /api/auth/two-factor/enable", {
      cookie,
      body: { password },
    });
    const code = totp(enabled.body.totpURI);
    const verified = await send(context.url, "POST /api/auth/two-factor/verify-totp", {
      cookie,
      body: { code },
    });
    expect(verified.status).toBe(200);
    cookie = cookieIn(verified) || cookie;
    return { cookie, email, password };
  }
});

describe("slow clients", () => {
  it("on a connection kept alive are cut off like others, and delay nobody", async () => {
    const clients = Array.from({ length: 100 }, () =>
      openRawConnection(context.url, "GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n"),
    );
    // The first answer is there: the next request never ends.
    for (const { socket } of clients)
      socket.once("data", () => socket.write("GET /api/health HTTP/1.1\r\nHost: x\r\nX-Slow: "));
    await vi.waitFor(() => expect(clients.every(({ received }) => received.includes("200 OK"))).toBe(true), {
      timeout: 60_000,
    });
    expect((await send(context.url, "GET /api/users/me", { key: context.victim.key })).status).toBe(200);
    await vi.waitFor(() => expect(clients.every(({ isClosed }) => isClosed)).toBe(true), {
      timeout: 120_000,
    });
  }, 180_000);
});
