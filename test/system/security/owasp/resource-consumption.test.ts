import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { ROUTES } from "../../../../src/api/rest/routes.ts";
import { NO_METRICS } from "../../../../src/limits/limiter.ts";
import { MemoryLimiter } from "../../../../src/limits/memory-limiter.ts";
import { eventually } from "../../../support/eventually.ts";
import { createAdmin, createUser } from "../../../support/people.ts";
import { flood, openRawConnection } from "../../../support/raw-connection.ts";
import { createServiceKey } from "../../../support/service-keys.ts";
import { GENEROUS_LIMITS } from "../../../support/variables.ts";
import { BODIES, ENDPOINT_ID, nameOf, requestTo } from "./requests.ts";
import { type Inhabitant, type SecurityContext, securityContext } from "./security-context.ts";
import { send } from "./send.ts";

const MEGABYTE = 1024 * 1024;
const TOO_MANY = { status: 429, text: '{"error":"Too many requests. Please wait a moment."}' };

/** What is on its way, in two sockets' buffers, when the answer is seen. */
const UNDERWAY_BYTES = 16 * MEGABYTE;

/** Whatever reads a body, and who may send it. */
const READERS = (on: SecurityContext): [request: string, cookie: string, limit: number][] => [
  ["PATCH /api/users/me", on.attacker.cookie, 65_536],
  ["POST /api/v2/checkout", on.attacker.cookie, 65_536],
  ["POST /api/portal", on.attacker.cookie, 65_536],
  ["POST /api/api-keys", on.attacker.cookie, 65_536],
  [`POST /api/notifications/${on.attacker.notificationIds[0]}/read`, on.attacker.cookie, 65_536],
  [`POST /api/webhook-deliveries/${on.deliveryId}/replay`, on.admin.cookie, 65_536],
  ["POST /api/auth/sign-in/email", "", 65_536],
  ["POST /api/auth/sign-up/email", "", 65_536],
  ["POST /api/auth/request-password-reset", "", 65_536],
  ["POST /api/v1/auth/reset-password", "", 65_536],
  ["POST /api/chat", on.attacker.cookie, MEGABYTE],
  ["POST /api/plugins/renewals/calendar.ics", on.attacker.cookie, MEGABYTE],
  ["POST /api/webhooks/provider-a", "", MEGABYTE],
];

const context = securityContext();

describe("API4:2023 Unrestricted Resource Consumption", () => {
  it("cuts off endless bodies", async () => {
    const flooding = READERS(context).map(async ([request, cookie, limit]) => {
      const head = [`${request} HTTP/1.1`, "Content-Type: application/json", `Cookie: ${cookie}`];
      const { status, sentBytes } = await flood(context.url, head);
      expect([request, status]).toEqual([request, 413]);
      expect(sentBytes).toBeLessThan(limit + UNDERWAY_BYTES);
    });
    await Promise.all(flooding);
  });

  it("rejects an oversized Content-Length before the body is sent", async () => {
    for (const [request, cookie] of READERS(context)) {
      const length = { "content-length": "99999999999", "content-type": "application/json" };
      const response = await send(context.url, request, {
        cookie,
        headers: { ...length, connection: "close" },
      });
      expect([request, response.status]).toEqual([request, 413]);
      const auth = request.includes("/auth/") ? ["message", "code"] : [];
      const v2 = request.includes("/v2/") ? ["reason", "params"] : [];
      expect(Object.keys(response.body)).toEqual(["error", ...auth, ...v2]);
    }
  });

  it("does not read bodies of refused callers", async () => {
    const stranger = await flood(context.url, [
      "PATCH /api/users/me HTTP/1.1",
      "Content-Type: application/json",
    ]);
    expect(stranger.status).toBe(401);
    expect(stranger.sentBytes).toBeLessThan(UNDERWAY_BYTES);
    const url = await context.serverWith({ RATE_LIMIT_SETTINGS: "1/60" });
    const { cookie } = context.attacker;
    await send(url, "GET /api/api-keys", { cookie });
    const head = ["PATCH /api/users/me HTTP/1.1", "Content-Type: application/json", `Cookie: ${cookie}`];
    expect((await flood(url, head)).status).toBe(429);
  });

  it("rejects deeply or widely nested JSON", async () => {
    const { cookie } = context.attacker;
    const bombs = [
      `{"name":${"[".repeat(30_000)}${"]".repeat(30_000)}}`,
      `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`,
      "[".repeat(65_000),
      `{"name":"x","preferences":${'{"theme":'.repeat(21)}1${"}".repeat(21)}}`,
      `{${Array.from({ length: 6_000 }, (_, n) => `"${n}":1`).join(",")}}`,
      `{"name":${"9".repeat(60_000)}}`,
      `{"name":"${"\\u0041".repeat(10_000)}"}`,
      `{"name":"${"\\".repeat(60_000)}"}`,
      `{"name":1e${"9".repeat(60_000)}}`,
      " ".repeat(65_000),
    ];
    for (const body of bombs) {
      for (const request of ["PATCH /api/users/me", "POST /api/auth/sign-up/email"]) {
        const response = await send(context.url, request, { cookie, body });
        expect(response.status, `${body.slice(0, 20)}: ${response.text}`).toBe(400);
      }
    }
  });

  it("does not unpack compressed bodies", async () => {
    const body = Buffer.from("H4sIAAAAAAAAA+3BAQEAAACAkP6v7ggKAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "base64");
    for (const coding of ["gzip", "br", "deflate", "zstd", "gzip, gzip"]) {
      for (const request of ["PATCH /api/users/me", "POST /api/auth/sign-in/email"]) {
        const headers = { "content-encoding": coding };
        expect(
          (await send(context.url, request, { cookie: context.attacker.cookie, headers, body })).status,
        ).toBe(400);
      }
    }
  });

  it("returns at most a hundred items per page", async () => {
    const { id, cookie } = await createAdmin(context.test);
    const { key: serviceKey } = await createServiceKey(context.test);
    await context.test.rows(
      `insert into event_endpoint (id, url, types, enabled, secret)
       values ($1, 'https://example.com/hook', '{user.updated}', false, 'whsec_AAAA')`,
      [ENDPOINT_ID],
    );
    await context.test.rows(
      `insert into notification (user_id, kind) select $1, 'api_key_created' from generate_series(1, 150)`,
      [id],
    );
    for (const { method, path, plural, operation } of ROUTES.filter((route) => route.plural !== null)) {
      const list = requestTo({ method, path }, context.victim, context);
      const as =
        operation.access === "service"
          ? { key: serviceKey }
          : { cookie: operation.access === "admin" ? cookie : context.victim.cookie };
      const page = (query: string) => send(context.url, `${list}?${query}`, as);
      for (const limit of [
        "0",
        "-1",
        "101",
        "1000000000",
        "1e3",
        "0x64",
        "99.5",
        "",
        "%20",
        "NaN",
        "null",
        "[]",
      ])
        expect([path, limit, (await page(`limit=${limit}`)).status]).toEqual([path, limit, 400]);
      for (const query of ["limit=100&limit=1000", "limit[]=100", `cursor=${"A".repeat(501)}`, "cursor="])
        expect([path, query, (await page(query)).status]).toEqual([path, query, 400]);
      expect((await page("limit=100")).body[plural as string].length).toBeLessThanOrEqual(100);
      expect((await page("")).body[plural as string].length).toBeLessThanOrEqual(20);
    }
    const full = await send(context.url, "GET /api/notifications?limit=100", { cookie });
    expect(full.body.notifications).toHaveLength(100);
  });

  it("rejects oversized URLs and headers", async () => {
    const { cookie } = context.attacker;
    const floods = [
      send(context.url, `GET /api/users?${"a=1&".repeat(20_000)}`, { cookie }),
      send(context.url, `GET /api/${"a/".repeat(20_000)}`, { cookie }),
      send(context.url, "GET /api/users/me", { cookie, headers: { "x-flood": "x".repeat(100_000) } }),
      send(context.url, "GET /api/users/me", { cookie: `${cookie}; ${"a=1; ".repeat(20_000)}` }),
    ];
    for (const flooded of await Promise.allSettled(floods)) {
      // Closing the connection while the client still sends is a valid response.
      if (flooded.status === "fulfilled") expect([400, 404, 414, 431]).toContain(flooded.value.status);
    }
    for (const request of [
      `GET /api/users?${"a=1&".repeat(3_000)}`,
      `GET /api/users?${"cursor&".repeat(2_000)}`,
    ])
      expect((await send(context.url, request, { cookie })).status).toBe(400);
    expect((await send(context.url, "GET /api/users/me", { cookie })).status).toBe(200);
  });

  it("serves others beside slow senders", async () => {
    const head = (request: string, cookie: string) =>
      `${request} HTTP/1.1\r\nHost: localhost\r\nCookie: ${cookie}\r\nContent-Type: application/json\r\n`;
    const slow = READERS(context).flatMap(([request, cookie]) =>
      Array.from({ length: 12 }, () => `${head(request, cookie)}Content-Length: 60000\r\n\r\n{"name":`),
    );
    const headless = Array.from({ length: 50 }, () => head("GET /api/users/me", context.attacker.cookie));
    const senders = [...slow, ...headless].map((bytes) => openRawConnection(context.url, bytes));
    await Promise.all(senders.map(({ socket }) => once(socket, "connect")));
    try {
      for (const request of ["GET /api/users/me", "GET /api/subscriptions", "GET /api/ready"]) {
        const answers = Array.from({ length: 20 }, () =>
          send(context.url, request, { cookie: context.victim.cookie }),
        );
        for (const answer of await Promise.all(answers)) expect(answer.status).toBe(200);
      }
    } finally {
      for (const { socket } of senders) socket.destroy();
    }
    expect((await send(context.url, "GET /api/users/me", { cookie: context.attacker.cookie })).status).toBe(
      200,
    );
  });

  it("answers text aimed at slow patterns at once", async () => {
    const { cookie } = context.attacker;
    const names = [
      `e${"\u0301".repeat(20_000)}`,
      "\u{1f468}\u200d".repeat(9_000),
      "\ufdfa".repeat(20_000),
      " ".repeat(60_000),
      `${" ".repeat(30_000)}x${" ".repeat(30_000)}`,
      "\u202e".repeat(101),
      "a".repeat(60_000),
    ];
    for (const name of names) {
      for (const request of ["PATCH /api/users/me", "POST /api/api-keys"]) {
        const { status } = await send(context.url, request, { cookie, body: { name } });
        expect([200, 201, 400]).toContain(status);
      }
    }
    const emails = [
      `${"a".repeat(60_000)}@example.com`,
      `a@${"a.".repeat(30_000)}`,
      `a@${"a-".repeat(30_000)}com`,
      `"${"\\".repeat(30_000)}"@example.com`,
      `${"a.".repeat(126)}@`,
      `a@${"-".repeat(200)}.com`,
      "@".repeat(60_000),
    ];
    for (const email of emails) {
      const body = { email, password: "a password of some length", name: "Somebody" };
      for (const path of ["sign-in/email", "sign-up/email", "request-password-reset"])
        expect((await send(context.url, `POST /api/auth/${path}`, { body })).status).toBe(400);
    }
    const headers: Record<string, string>[] = [
      { cookie: `${";".repeat(14_000)}=` },
      { cookie: "=;".repeat(7_000) },
      { cookie: `better-auth.session_token=${"%41".repeat(4_500)}` },
      { cookie: `better-auth.session_token=${".".repeat(14_000)}` },
      { authorization: `Bearer${" ".repeat(14_000)}x` },
      { authorization: `Bearer tg_${"A".repeat(14_000)}` },
      { "x-api-version": `v${"1".repeat(14_000)}` },
      { "x-forwarded-for": `${",".repeat(14_000)}1.1.1.1` },
      { "x-forwarded-for": ":".repeat(14_000) },
      { "if-none-match": '"x",'.repeat(3_000) },
      { "content-type": `application/json;${" ".repeat(14_000)}` },
    ];
    const url = await context.serverWith({ ...GENEROUS_LIMITS, TRUSTED_PROXIES: "10.0.0.0/8,127.0.0.0/8" });
    for (const header of headers) {
      for (const request of ["GET /api/users/me", "GET /api/plans", "POST /api/auth/sign-out"])
        expect((await send(url, request, { headers: header })).status).toBeLessThan(500);
    }
  });

  it("limits every route", () => {
    expect(ROUTES.filter(({ operation }) => operation.limit === null).map(nameOf)).toEqual([]);
  });

  it("admits each route's limit, then refuses, for sessions, keys and versions", async () => {
    const url = await context.serverWith(
      Object.fromEntries(Object.keys(GENEROUS_LIMITS).map((variable) => [variable, "3/60"])),
    );
    await Promise.all(
      [
        ...ROUTES.filter(({ operation }) => operation.access !== "service").map((route) => ({
          route,
          body: BODIES[nameOf(route)],
        })),
        {
          route: { method: "POST", path: "/chat", operation: { access: "person" } } as const,
          body: { messages: [] },
        },
        {
          route: {
            method: "GET",
            path: "/plugins/renewals/calendar.ics",
            operation: { access: "person" },
          } as const,
          body: undefined,
        },
      ].map(async ({ route, body }) => {
        const { access } = route.operation;
        const person = await createUser(context.test, "A Visitor", {
          role: access === "admin" ? "admin" : "user",
        });
        const owner = { ...context.victim, ...person } as Inhabitant;
        const request = requestTo(route, owner, context);
        const remaining: unknown[] = [];
        for (const version of ["/api/", "/api/v1/", "/api/v2/"]) {
          const response = await send(url, request.replace("/api/", version), {
            cookie: person.cookie,
            body,
          });
          expect([401, 403, 429], `${request}: ${response.text}`).not.toContain(response.status);
          remaining.push(response.fields["x-ratelimit-remaining"]);
        }
        expect([request, ...remaining]).toEqual([request, "2", "1", "0"]);
        const refused = await send(url, request, { cookie: person.cookie, body });
        expect(refused).toMatchObject(TOO_MANY);
        expect(refused.fields).toMatchObject({ "x-ratelimit-remaining": "0", "cache-control": "no-store" });
        expect(refused.fields["retry-after"]).toMatch(/^([1-9]|[1-5]\d|60)$/);
      }),
    );
  });

  it("counts keys with their owner, HEAD with GET, and invalid requests", async () => {
    const url = await context.serverWith({ RATE_LIMIT_API: "4/60" });
    const { cookie, key, id } = context.attacker;
    expect((await send(url, "HEAD /api/users/me", { cookie })).status).toBe(200);
    expect((await send(url, "GET /api/users/me", { key })).status).toBe(200);
    expect((await send(url, "GET /api/users?limit=0", { cookie })).status).toBe(400);
    expect((await send(url, "GET /api/subscriptions/nothing", { cookie })).status).toBe(400);
    const evasions = [
      { cookie, headers: { "x-forwarded-for": "203.0.113.77" } },
      { cookie: `${cookie}; a=b`, headers: { "user-agent": "another" } },
      { key, headers: { "x-request-id": "1", "x-user-id": `${id}2` } },
    ];
    for (const as of evasions) {
      for (const request of [
        "GET /api/users/me",
        "HEAD /api/users/me",
        "GET /api/users?x=1",
        "GET /api/v2/users",
      ])
        expect((await send(url, request, as)).status).toBe(429);
    }
    expect((await send(url, "GET /api/users/me", { cookie: context.victim.cookie })).status).toBe(200);
  });

  it("admits exactly the limit of simultaneous requests", async () => {
    const url = await context.serverWith({});
    const ways = [{ cookie: context.attacker.cookie }, { key: context.attacker.key }];
    const responses = await Promise.all(
      Array.from({ length: 90 }, (_, n) =>
        send(url, n % 3 ? "GET /api/users/me" : "GET /api/v2/subscriptions", ways[n % 2] as object),
      ),
    );
    const count = (status: number) => responses.filter((answer) => answer.status === status).length;
    expect([count(200), count(429)]).toEqual([30, 60]);
    const strangers = await Promise.all(Array.from({ length: 50 }, () => send(url, "GET /api/plans")));
    expect(strangers.filter(({ status }) => status === 200)).toHaveLength(30);
  });

  it("limits mails to three a minute", async () => {
    const url = await context.serverWith({});
    const before = (await context.mails()).length;
    const people = [context.victim, context.attacker, context.admin];
    const responses = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        send(url, "POST /api/auth/request-password-reset", { body: { email: people[n % 3]?.email } }),
      ),
    );
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(3);
    await eventually(async () => (await context.mails()).length, before + 3);
  });

  it("keeps blocked keys under a flood of new addresses", () => {
    const limiter = new MemoryLimiter({
      log: { warn: () => {} } as never,
      metrics: NO_METRICS,
      now: () => 0,
      maxMemoryKeys: 500,
    });
    for (let n = 0; n < 3; n++) limiter.decide("auth-sign-in:attacker", 3, 60_000, 1);
    for (let n = 0; n < 20_000; n++) limiter.decide(`auth-sign-in:${n}`, 3, 60_000, 1);
    expect(limiter.keyCount).toBeLessThanOrEqual(500);
    expect(limiter.decide("auth-sign-in:attacker", 3, 60_000, 1).allowed).toBe(false);
  });

  it("limits a user to a hundred keys", async () => {
    const { id, cookie } = await createUser(context.test);
    await context.test.rows(
      `insert into api_key (id, user_id, name, prefix, hash)
       select gen_random_uuid(), $1, 'k', 'tg_' || n, sha256(($1 || n)::bytea) from generate_series(1, 99) n`,
      [id],
    );
    const create = () => send(context.url, "POST /api/api-keys", { cookie, body: { name: "one more" } });
    expect((await create()).status).toBe(201);
    expect((await create()).status).toBe(409);
  });
});
