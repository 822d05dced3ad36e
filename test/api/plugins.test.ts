import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Hono } from "hono";
import { afterAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { CallerContext } from "../../src/api/authenticate.ts";
import { loadPlugins, type Plugin, type PluginEnv, pluginRoutes } from "../../src/api/plugins.ts";
import { definePlans } from "../../src/domain/plans/plan.ts";
import type { Limits } from "../../src/limits/rate-limit.ts";
import type { Dependencies } from "../../src/operations/dependencies.ts";
import { testApp, testCallers, testLimits } from "../support/guarded-app.ts";
import { listen, sendRequest } from "../support/http.ts";
import { createUser } from "../support/people.ts";
import { openRawConnection } from "../support/raw-connection.ts";
import { createSubscription } from "../support/subscriptions.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { testDatabase } from "../support/test-database.ts";

const test = testDatabase(11);
const closing: { close(): Promise<void> }[] = [];

afterAll(async () => {
  for (const server of closing) await server.close();
});

const PRO = {
  name: "Pro",
  price: { amount: 2000, currency: "EUR", interval: "month" as const },
  features: [],
  seats: { min: 1, max: 5 },
  priceIds: {},
};
const PLANS = definePlans([
  {
    ...PRO,
    id: "pro",
    prices: [
      {
        amount: 22_000,
        currency: "USD",
        interval: "year",
        priceIds: { "provider-a": "price_pro_yearly_usd" },
      },
      { amount: 20_000, currency: "EUR", interval: "year", priceIds: { "provider-a": "price_pro_yearly" } },
    ],
  },
  { ...PRO, id: "yen", name: "Yen", price: { amount: 2000, currency: "JPY", interval: "year" } },
  { ...PRO, id: "odd", name: `Größe; "XL", 100 % \\ für 語言🧭 und\r\nnoch\x07eine sehr lange Zeile davon` },
]);

async function served(
  plugins: readonly Plugin[],
  note: (error: unknown) => void = () => {},
  callers: CallerContext = testCallers,
) {
  const charged: string[] = [];
  const limits = testLimits();
  const counting: Limits = {
    ...limits,
    rateLimit: (key, options) => {
      charged.push(key);
      return limits.rateLimit(key, options);
    },
  };
  const deps = {
    database: test.database,
    limits: counting,
    plans: PLANS,
    observe: null,
  } as unknown as Dependencies;
  const server = await listen(testApp("/api/plugins", pluginRoutes(plugins, deps, callers), note));
  closing.push(server);
  return { url: server.url, charged };
}

const asUser = (user: string, headers: Record<string, string> = {}) => ({
  headers: { "x-test-user": user, ...headers },
});

describe("a plugin", () => {
  let calls: string[];
  let url: string;
  let charged: string[];
  let noted: unknown[];
  beforeEach(async () => {
    calls = [];
    noted = [];
    const router = new Hono<PluginEnv>();
    router.use(async (c, next) => {
      calls.push(c.req.path);
      await next();
    });
    router.get("/who", (c) => c.json({ ...c.var.caller, plans: c.var.deps.plans.plans.length }));
    router.get("/broken", () => {
      throw new Error("postgres://user:password@db");
    });
    router.post("/echo", async (c) => c.json(await c.req.json()));
    router.all("/any/*", (c) => c.text("any"));
    ({ url, charged } = await served(
      [
        { name: "first", router },
        { name: "another", router },
      ],
      (error) => noted.push(error),
    ));
  });

  it.each(["/api/plugins/first/who", "/api/plugins/first", "/api/plugins/first/any/%2e%2e/x"])(
    "does not run without authentication: %s",
    async (path) => {
      const response = await sendRequest(url, "GET", path);
      expect(response).toMatchObject({ status: 401, text: '{"error":"Unauthorized"}' });
      expect(response.fields["www-authenticate"]).toBeDefined();
      expect(calls).toEqual([]);
    },
  );

  it("receives the caller, by session or key, and the dependencies", async () => {
    const bySession = await sendRequest(url, "GET", "/api/plugins/first/who", asUser("user_1"));
    expect(bySession.body).toMatchObject({ kind: "session", userId: "user_1", plans: 3 });
    const byKey = await sendRequest(
      url,
      "GET",
      "/api/plugins/first/who",
      asUser("user_1", { "x-test-key": "key" }),
    );
    expect(byKey.body).toMatchObject({ kind: "api-key", userId: "user_1", keyId: "key" });
  });

  it("does not run for a session that was revoked while its body was held back", async () => {
    let isRevoked = false;
    const identify: CallerContext["auth"]["identify"] = async (credentials) =>
      isRevoked
        ? { caller: { kind: "anonymous", address: credentials.address }, setCookies: [] }
        : testCallers.auth.identify(credentials);
    const callers = { ...testCallers, auth: { ...testCallers.auth, identify } };
    const router = new Hono<PluginEnv>().post("/echo", async (c) => c.json(await c.req.json()));
    const server = await served([{ name: "first", router }], undefined, callers);
    const head =
      "POST /api/plugins/first/echo HTTP/1.1\r\nhost: x\r\nx-test-user: user_1\r\nconnection: close";
    const connection = openRawConnection(server.url, `${head}\r\ncontent-length: 2\r\n\r\n{`);
    await vi.waitFor(() => expect(server.charged).toEqual(["plugin:user_1"]), { timeout: 30_000 });
    await sleep(200);
    isRevoked = true;
    connection.socket.write("}");
    expect(await connection.closed).toMatch(/^HTTP\/1\.1 401 /);
  });

  it("shares a limit of thirty calls a minute per user with all plugins", async () => {
    const statuses: number[] = [];
    for (let n = 0; n < 31; n++) {
      const path = n % 2 ? "/api/plugins/first/who" : "/api/plugins/another/any/x";
      statuses.push((await sendRequest(url, "GET", path, asUser("user_1"))).status);
    }
    expect(statuses).toEqual([...Array(30).fill(200), 429]);
    expect(calls).toHaveLength(30);
    const refused = await sendRequest(url, "GET", "/api/plugins/first/who", asUser("user_1"));
    expect(refused.text).toBe('{"error":"Too many requests. Please wait a moment."}');
    expect(refused.fields["x-ratelimit-remaining"]).toBe("0");
    expect(Number(refused.fields["retry-after"])).toBeGreaterThan(0);
    const othersAnswer = await sendRequest(url, "GET", "/api/plugins/first/who", asUser("user_2"));
    expect(othersAnswer.fields["x-ratelimit-remaining"]).toBe("29");
  });

  it.each([
    "/api/plugins/first/who",
    "/api/plugins/%66irst/who",
    "/api/plugins/first/%77ho",
    "/%61pi/plugins/first/who",
    "/api%2Fplugins/first/who",
    "/api/plugins%2Ffirst%2Fwho",
    "/api/plugins/first%2Fwho",
    "/api/plugins/first//who",
    "/api/plugins//first/who",
    "//api/plugins/first/who",
    "/api/plugins/./first/who",
    "/api/plugins/x/../first/who",
    "/api/plugins/x/%2e%2e/first/who",
    "/api/plugins/first/who/",
    "/api/plugins/first/who?x=/",
    "/api/plugins/first/who#x",
    "/api/plugins/first\\who",
    "/api/plugins/FIRST/who",
    "/api/plugins/first/who%00",
    "/api/plugins/first/who;x",
    "/api/plugins/%2566irst/who",
  ])("cannot be reached past authentication and limit: %s", async (path) => {
    const withoutSession = await sendRequest(url, "GET", path);
    expect([400, 401, 404]).toContain(withoutSession.status);
    expect(calls).toEqual([]);
    const { status } = await sendRequest(url, "GET", path, asUser("user_3"));
    if (calls.length > 0 || status === 200) expect(charged).toEqual(["plugin:user_3"]);
  });

  it("returns 404 for an unknown plugin, or 401 without a session", async () => {
    expect((await sendRequest(url, "GET", "/api/plugins/second/who")).status).toBe(401);
    expect(await sendRequest(url, "GET", "/api/plugins/second/who", asUser("user_1"))).toMatchObject({
      status: 404,
      text: '{"error":"Not found"}',
    });
    expect((await sendRequest(url, "GET", "/api/plugins/first/unknown", asUser("user_1"))).status).toBe(404);
  });

  it("returns 500 without details when a plugin throws", async () => {
    const response = await sendRequest(url, "GET", "/api/plugins/first/broken", asUser("user_1"));
    expect(response).toMatchObject({ status: 500, text: '{"error":"Internal server error"}' });
    expect(response.fields["x-ratelimit-remaining"]).toBe("29");
    expect(noted).toHaveLength(1);
  });

  it("reads bodies of at most a megabyte", async () => {
    const send = (body: string, headers: Record<string, string> = {}) =>
      sendRequest(url, "POST", "/api/plugins/first/echo", {
        ...asUser("user_1", { "content-type": "application/json", ...headers }),
        body,
      });
    expect(await send('{"a":1}')).toMatchObject({ status: 200, text: '{"a":1}' });
    expect(await send('{"a":1}', { "transfer-encoding": "chunked" })).toMatchObject({ text: '{"a":1}' });
    const large = JSON.stringify("a".repeat(1024 * 1024));
    const refused = { status: 413, text: '{"error":"expected a body of at most 1048576 bytes"}' };
    expect(await send(large)).toMatchObject(refused);
    expect(await send(large, { "transfer-encoding": "chunked" })).toMatchObject(refused);
    for (const method of ["DELETE", "OPTIONS", "TRACE", "PROPFIND"]) {
      expect(await sendRequest(url, method, "/api/plugins/first/any/x", asUser("user_1"))).toMatchObject({
        status: 200,
        text: "any",
      });
    }
  });

  it("rejects writes from a foreign page", async () => {
    const response = await sendRequest(url, "POST", "/api/plugins/first/echo", {
      ...asUser("user_1", { origin: "https://evil.example.com" }),
      body: "{}",
    });
    expect(response.status).toBe(403);
    expect(calls).toEqual([]);
  });
});

describe("a plugin's secret link", () => {
  let url: string;
  let charged: string[];
  beforeEach(async () => {
    const router = new Hono<PluginEnv>().get("/who", (c) => c.json(c.var.caller));
    const linkRouter = new Hono<PluginEnv>()
      .get("/who", (c) => c.json(c.var.caller))
      .post("/length", async (c) => c.json((await c.req.text()).length));
    ({ url, charged } = await served([
      { name: "linked", router, linkRouter },
      { name: "other", router },
    ]));
  });
  const get = (path: string, options = {}) => sendRequest(url, "GET", `/api/plugins${path}`, options);

  it("identifies its owner without a header, and is charged to the plugin scope", async () => {
    const { status, body, fields } = await get("/linked/links/user_1/who");
    expect([status, body]).toMatchObject([200, { kind: "api-key", userId: "user_1", role: "user" }]);
    expect(fields["x-ratelimit-remaining"]).toBe("29");
    expect(charged).toEqual(["plugin:user_1"]);
    // The link counts, not the session that is sent with it.
    expect((await get("/linked/links/user_1/who", asUser("user_2"))).body.userId).toBe("user_1");
  });

  it("reads bodies of at most a megabyte", async () => {
    const send = (body: string) =>
      sendRequest(url, "POST", "/api/plugins/linked/links/user_1/length", {
        headers: { "transfer-encoding": "chunked" },
        body,
      });
    expect(await send("four")).toMatchObject({ status: 200, text: "4" });
    expect(await send("a".repeat(1024 * 1024 + 1))).toMatchObject({
      status: 413,
      text: '{"error":"expected a body of at most 1048576 bytes"}',
    });
  });

  it("rejects a request whose body is held back until the secret of the link has been replaced", async () => {
    let isReplaced = false;
    let calls = 0;
    let identified = () => {};
    const callers: CallerContext = {
      ...testCallers,
      auth: {
        ...testCallers.auth,
        authenticateLink: async (...of) => {
          const owner = isReplaced ? null : await testCallers.auth.authenticateLink(...of);
          identified();
          return owner;
        },
      },
    };
    const router = new Hono<PluginEnv>();
    const linkRouter = new Hono<PluginEnv>().post("/write", (c) => {
      calls += 1;
      return c.json(c.var.caller);
    });
    const { url } = await served([{ name: "late", router, linkRouter }], () => {}, callers);
    const sendLate = async (meanwhile: () => void) => {
      const head =
        "POST /api/plugins/late/links/user_1/write HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 2\r\n\r\n";
      const identifying = Promise.withResolvers<void>();
      identified = identifying.resolve;
      const { socket, closed } = openRawConnection(url, `${head}b`);
      await identifying.promise;
      await sleep(500);
      meanwhile();
      socket.write("b");
      return closed;
    };
    expect(await sendLate(() => {})).toMatch(/^HTTP\/1\.1 200 [\s\S]*"userId":"user_1"/);
    const replace = () => {
      isReplaced = true;
    };
    expect(await sendLate(replace)).toMatch(/^HTTP\/1\.1 404 /);
    expect(calls).toBe(1);
  });

  it("is limited like the other requests of its owner", async () => {
    for (let n = 0; n < 29; n++) await get("/linked/links/user_1/who");
    expect((await get("/linked/who", asUser("user_1"))).status).toBe(200);
    expect((await get("/linked/links/user_1/who")).status).toBe(429);
    expect((await get("/linked/links/user_2/who")).status).toBe(200);
  });

  it("returns 404 for an unknown secret, charged to the address like a wrong key", async () => {
    const { status, text, fields } = await get("/linked/links/nobody/who");
    expect([status, text]).toEqual([404, '{"error":"Not found"}']);
    expect(fields.ratelimit).toMatch(/^"auth-key";r=\d+;t=\d+$/);
    expect(charged).toEqual([]);
  });

  it.each(["/linked/links/user_1", "/linked/links/user_1/else", "/linked/who", "/other/links/user_1/who"])(
    "opens nothing else: %s",
    async (path) => {
      expect((await get(path)).status).toBe(401);
    },
  );
});

describe("the folder of plugins", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  const ROUTER = "export const router = { fetch() {}, routes: [] };";
  const write = (file: string, text: string) => writeFile(join(folder, file), text);

  it("contains renewals", async () => {
    expect((await loadPlugins()).map(({ name }) => name)).toContain("renewals");
  });

  it("loads one plugin per file, and ignores other files", async () => {
    await write("b.ts", `export const name: string = "second-2"; ${ROUTER}`);
    await write("a.ts", `export const name: string = "first"; ${ROUTER}`);
    for (const file of ["notes.md", ".a.ts.swp", ".hidden.ts", "types.d.ts"])
      await write(file, "not a plugin");
    expect((await loadPlugins(folder)).map(({ name }) => name)).toEqual(["first", "second-2"]);
  });

  it.each([
    ["no name", ROUTER, 'plugin a.ts: export a const "name" of lower-case letters, digits and dashes'],
    ["a name with a slash", `export const name = "a/b"; ${ROUTER}`, /plugin a\.ts: .*"name"/],
    ["a name with a dot", `export const name = ".."; ${ROUTER}`, /plugin a\.ts: .*"name"/],
    ["a name that is a pattern", `export const name = ":id"; ${ROUTER}`, /plugin a\.ts: .*"name"/],
    ["a name in capitals", `export const name = "Renewals"; ${ROUTER}`, /plugin a\.ts: .*"name"/],
    ["an empty name", `export const name = ""; ${ROUTER}`, /plugin a\.ts: .*"name"/],
    ["no router", 'export const name = "a";', 'plugin a.ts: export a const "router" that is a Hono app'],
    [
      "a router that is none",
      'export const name = "a"; export const router = {};',
      /plugin a\.ts: .*"router"/,
    ],
    ["a default export alone", "export default {};", /plugin a\.ts: .*"name"/],
    ["what throws", 'throw new Error("no licence key");', "plugin a.ts: no licence key"],
    ["what is no TypeScript", "export const name = ;", /^plugin a\.ts: /],
  ])("rejects %s, and names the file", async (_, text, message) => {
    await write("a.ts", text);
    await expect(loadPlugins(folder)).rejects.toThrow(message);
  });

  it("rejects two plugins of one name, and names both files", async () => {
    await write("a.ts", `export const name = "same"; ${ROUTER}`);
    await write("b.ts", `export const name = "same"; ${ROUTER}`);
    await expect(loadPlugins(folder)).rejects.toThrow('plugin b.ts: "same" is also the name of a.ts');
  });
});

describe("GET /api/plugins/renewals/calendar.ics", () => {
  let url: string;
  let charged: string[];
  beforeEach(async () => {
    ({ url, charged } = await served(await loadPlugins()));
  });

  const subscribed = (userId: string, columns: Parameters<typeof createSubscription>[2] = {}) =>
    createSubscription(test, userId, {
      seats: 3,
      current_period_end: "2027-05-01T08:30:00.7Z",
      created_at: "2027-01-01T00:00:00Z",
      updated_at: "2027-01-01T00:01:30Z",
      ...columns,
    });

  const feed = (user: string, headers: Record<string, string> = {}) =>
    sendRequest(url, "GET", "/api/plugins/renewals/calendar.ics", asUser(user, headers));
  const eventsOf = async (user: string) => parseCalendar(Buffer.from((await feed(user)).text)).components;

  it("returns a calendar, charged once", async () => {
    const answer = await feed("user_0");
    expect(answer.status).toBe(200);
    expect(answer.fields).toMatchObject({
      "content-type": "text/calendar; charset=utf-8",
      "content-disposition": 'inline; filename="renewals.ics"',
      "cache-control": "private, no-cache",
      "x-ratelimit-remaining": "29",
    });
    const calendar = parseCalendar(Buffer.from(answer.text));
    expect(valueIn(calendar, "METHOD")).toBe("PUBLISH");
    expect(valueIn(calendar, "X-PUBLISHED-TTL")).toBe("P1D");
    expect(calendar.components).toEqual([]);
    expect(charged).toEqual(["plugin:user_0"]);
  });

  it("has an event for each renewal, with plan, seats and price", async () => {
    const id = await subscribed("user_1");
    const [event, ...more] = await eventsOf("user_1");
    expect(more).toEqual([]);
    expect(Object.fromEntries((event?.properties ?? []).map(({ name, value }) => [name, value]))).toEqual({
      UID: id,
      SEQUENCE: "90",
      DTSTAMP: "20270101T000130Z",
      CREATED: "20270101T000000Z",
      "LAST-MODIFIED": "20270101T000130Z",
      DTSTART: "20270501T083000Z",
      SUMMARY: "Pro renews",
      DESCRIPTION: "3 seats\\nList price: €20.00 per seat / month",
      TRANSP: "TRANSPARENT",
    });
  });

  it.each([
    ["de", "Pro verlängert sich", "Verlängerungen", "3 Plätze\nListenpreis: 200,00 € pro Platz / Jahr"],
    ["es", "Pro se renueva", "Renovaciones", "3 plazas\nPrecio de lista: 200,00 € por plaza / año"],
    ["zh", "Pro 续订", "续订日期", "3 个席位\n标价：每席位 €200.00/年"],
  ])(
    "is in its owner's language, not that of the calendar program: %s",
    async (locale, summary, name, description) => {
      const { id } = await createUser(test);
      await test.rows(`update "user" set locale = $2 where id = $1`, [id, locale]);
      await subscribed(id, { price_id: "price_pro_yearly" });
      const { text } = await feed(id, { "accept-language": "en" });
      const calendar = parseCalendar(Buffer.from(text));
      const [event] = calendar.components;
      if (!event) throw new Error("no event");
      expect(textOf(calendar, "X-WR-CALNAME")).toBe(name);
      expect(textOf(event, "SUMMARY")).toBe(summary);
      expect(textOf(event, "DESCRIPTION").replace(/\s(?=€)/, " ")).toBe(description);
    },
  );

  it("names the price by the year, in the same currency, of a subscription that is paid by the year", async () => {
    await subscribed("user_10", { price_id: "price_pro_yearly" });
    const [event] = await eventsOf("user_10");
    expect(event && textOf(event, "DESCRIPTION")).toBe("3 seats\nList price: €200.00 per seat / year");
  });

  it("has an event for an end, and formats currencies without decimals", async () => {
    await subscribed("user_2", {
      plan_id: "yen",
      cancel_at_period_end: true,
      seats: 1,
      status: "past_due",
    });
    const [event] = await eventsOf("user_2");
    if (!event) throw new Error("no event");
    expect(textOf(event, "SUMMARY")).toBe("Yen ends");
    expect(textOf(event, "DESCRIPTION")).toBe("1 seat\nList price: ¥2,000 per seat / year");
  });

  it("names no price in a currency that is not charged", async () => {
    const { id } = await createUser(test);
    await subscribed(id, { price_id: "price_pro_monthly", provider_subscription_id: "sub_in_dollars" });
    await test.rows(
      `insert into payment (provider, provider_payment_id, provider_subscription_id, amount, currency, state, status, occurred_at)
       values ('provider-a', 'pay_in_dollars', 'sub_in_dollars', 2200, 'USD', 'paid', 'paid', now())`,
    );
    const [event] = await eventsOf(id);
    expect(event && textOf(event, "DESCRIPTION")).toBe("3 seats");
  });

  it.each([
    ["pauses", { pauses_at_period_end: true }],
    ["ends", { pauses_at_period_end: true, cancel_at_period_end: true }],
  ])("says that a subscription %s, not that it renews", async (next, columns) => {
    const { id } = await createUser(test);
    await subscribed(id, columns);
    const [event] = await eventsOf(id);
    expect(event && textOf(event, "SUMMARY")).toBe(`Pro ${next}`);
  });

  it("contains only the caller's renewing subscriptions", async () => {
    const statuses = ["incomplete", "trialing", "active", "past_due", "paused", "unpaid", "canceled"];
    const ids: Record<string, string> = {};
    for (const status of statuses) ids[status] = await subscribed("user_3", { status });
    await subscribed("user_3", { current_period_end: null });
    await subscribed("user_4");
    const uids = (await eventsOf("user_3")).map((event) => valueIn(event, "UID"));
    expect(uids.toSorted()).toEqual([ids.trialing, ids.active, ids.past_due].toSorted());
  });

  it("shows a discontinued plan by its id", async () => {
    await subscribed("user_5", { plan_id: "legacy_2019" });
    const [event] = await eventsOf("user_5");
    if (!event) throw new Error("no event");
    expect(textOf(event, "SUMMARY")).toBe("legacy_2019 renews");
    expect(textOf(event, "DESCRIPTION")).toBe("3 seats");
  });

  it("escapes separators, line breaks and control characters in names", async () => {
    await subscribed("user_6", { plan_id: "odd" });
    const [event] = await eventsOf("user_6");
    if (!event) throw new Error("no event");
    expect(textOf(event, "SUMMARY")).toBe(
      `Größe; "XL", 100 % \\ für 語言🧭 und\nnoch eine sehr lange Zeile davon renews`,
    );
  });

  it("folds its lines as RFC 5545 requires", async () => {
    const { text } = await feed("user_6");
    expect(text).toContain("\r\n ");
    const joined = text.replaceAll("\r\n ", "").trimEnd().split("\r\n");
    const [calendar, event] = [parseCalendar(Buffer.from(text)), ...(await eventsOf("user_6"))];
    const properties = [calendar, event].flatMap((component) => component?.properties ?? []);
    expect(joined.filter((line) => !/^(BEGIN|END):/.test(line))).toEqual(
      properties.map(({ name, parameters, value }) => `${name}${parameters}:${value}`),
    );
    for (const [from, to] of [
      ["\r\n", "\n"],
      [/UID:.*\r\n/, ""],
      [/DTSTAMP:.*\r\n/, ""],
      ["END:VEVENT", "END:VTODO"],
      ["\r\n ", ""],
      [/\r\n$/, ""],
    ] as const) {
      expect(() => parseCalendar(Buffer.from(text.replace(from, to))), String(from)).toThrow();
    }
  });

  it("contains subscriptions of several pages", async () => {
    await test.rows(
      `insert into subscription (id, user_id, provider, provider_subscription_id, plan_id, seats, status,
         current_period_end, cancel_at_period_end, out_of_order)
       select gen_random_uuid(), 'user_7', 'provider-b', n::text, 'pro', 1, 'active', now(), false, false
       from generate_series(1, 250) n`,
    );
    expect(await eventsOf("user_7")).toHaveLength(250);
    expect(charged).toEqual(["plugin:user_7"]);
  });

  it("keeps the UID of a changed subscription, and raises its sequence", async () => {
    const id = await subscribed("user_8");
    const before = await feed("user_8");
    await test.rows(
      `update subscription set current_period_end = '2027-06-01T08:30:00Z', updated_at = '2027-05-01T00:00:00Z'
       where id = $1`,
      [id],
    );
    const after = await feed("user_8");
    const event = (text: string) => parseCalendar(Buffer.from(text)).components[0] as never;
    expect(valueIn(event(after.text), "UID")).toBe(valueIn(event(before.text), "UID"));
    expect(Number(valueIn(event(after.text), "SEQUENCE"))).toBeGreaterThan(90);
    expect(after.fields.etag).not.toBe(before.fields.etag);
  });

  it("returns 304 when unchanged", async () => {
    await subscribed("user_9");
    const { fields, text } = await feed("user_9");
    const etag = fields.etag as string;
    expect((await feed("user_9")).text).toBe(text);
    for (const sentEtag of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const repeated = await feed("user_9", { "if-none-match": sentEtag });
      expect(repeated, sentEtag).toMatchObject({ status: 304, text: "" });
      expect(repeated.fields.etag).toBe(etag);
      expect(repeated.fields["x-ratelimit-remaining"]).toBeDefined();
    }
    expect((await feed("user_9", { "if-none-match": '"other"' })).status).toBe(200);
    await subscribed("user_9");
    expect((await feed("user_9", { "if-none-match": etag })).status).toBe(200);
  });

  it("accepts an API key, and returns 401 without a session", async () => {
    expect((await feed("user_1", { "x-test-key": "key" })).status).toBe(200);
    expect((await sendRequest(url, "GET", "/api/plugins/renewals/calendar.ics")).status).toBe(401);
  });
});

type Property = { name: string; parameters: string; value: string };
type Component = { name: string; properties: Property[]; components: Component[] };

/**
 * The one calendar of a stream, read as strictly as RFC 5545 is written. @throws Error naming the line that
 * is wrong
 */
function parseCalendar(bytes: Buffer): Component {
  const lines = unfolded(bytes).map(propertyOf);
  const root: Component = { name: "", properties: [], components: [] };
  const open = [root];
  for (const property of lines) {
    const current = open.at(-1) as Component;
    if (property.name === "BEGIN") {
      const component = { name: property.value, properties: [], components: [] };
      current.components.push(component);
      open.push(component);
    } else if (property.name === "END") {
      if (current.name !== property.value) throw new Error(`END:${property.value} within ${current.name}`);
      open.pop();
    } else {
      if (current === root) throw new Error(`${property.name} outside of any component`);
      if (current.components.length > 0) throw new Error(`${property.name} after a component`);
      current.properties.push(property);
    }
  }
  const [calendar, ...more] = root.components;
  if (open.length > 1 || !calendar || more.length > 0 || calendar.name !== "VCALENDAR") {
    throw new Error("not exactly one whole calendar");
  }
  assertComplete(calendar);
  return calendar;
}

/** The value of a property that must occur exactly once. */
function valueIn({ name, properties }: Component, property: string): string {
  const [match, ...more] = properties.filter((candidate) => candidate.name === property);
  if (!match || more.length > 0) throw new Error(`${name}: not exactly one ${property}`);
  return match.value;
}

/** Section 3.3.11: the text of a TEXT value. */
function textOf(component: Component, property: string): string {
  const value = valueIn(component, property);
  if (!/^(?:[^\\;,]|\\[\\;,nN])*$/u.test(value)) throw new Error(`not a TEXT: ${value}`);
  return value.replace(/\\(.)/gu, (_, escaped) => (escaped.toLowerCase() === "n" ? "\n" : escaped));
}

/** Section 3.1: lines end in CRLF, are at most 75 octets long, and are folded between characters. */
function unfolded(bytes: Buffer): string[] {
  const physical = bytes.toString("latin1").split("\r\n");
  if (physical.pop() !== "") throw new Error("the last line does not end in CRLF");
  const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const lines: string[] = [];
  for (const octets of physical) {
    const line = strict.decode(Buffer.from(octets, "latin1"));
    if (octets.length > 75) throw new Error(`${octets.length} octets: ${line}`);
    if (/(?!\t)\p{Cc}/u.test(line)) throw new Error(`control character: ${JSON.stringify(line)}`);
    if (/^[ \t]/.test(line)) lines.push(`${lines.pop()}${line.slice(1)}`);
    else lines.push(line);
  }
  return lines;
}

function propertyOf(line: string): Property {
  const [, name, parameters, value] =
    /^([A-Z0-9-]+)((?:;[A-Z0-9-]+=(?:[^";:,]*|"[^"]*"))*):(.*)$/u.exec(line) ?? [];
  if (name === undefined || parameters === undefined || value === undefined)
    throw new Error(`no property: ${line}`);
  return { name, parameters, value };
}

const UTC = /^\d{8}T\d{6}Z$/;

/** Sections 3.6 and 3.6.1, and section 3.2.1 of RFC 5546 for published calendars. */
function assertComplete(calendar: Component): void {
  if (valueIn(calendar, "VERSION") !== "2.0") throw new Error("VERSION is not 2.0");
  valueIn(calendar, "PRODID");
  valueIn(calendar, "METHOD");
  for (const event of calendar.components) {
    if (event.name !== "VEVENT") throw new Error(`unexpected ${event.name}`);
    for (const name of ["UID", "DTSTAMP", "DTSTART", "SUMMARY", "SEQUENCE"]) valueIn(event, name);
    for (const { name, value } of event.properties) {
      if (/^(DTSTAMP|DTSTART|LAST-MODIFIED|CREATED)$/.test(name) && !UTC.test(value)) {
        throw new Error(`${name}: ${value} is not a time in UTC`);
      }
    }
  }
  const uids = calendar.components.map((event) => valueIn(event, "UID"));
  if (new Set(uids).size !== uids.length) throw new Error("a UID is used twice");
}
