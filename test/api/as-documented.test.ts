import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningServer } from "../../src/server.ts";
import { freshDatabase } from "../support/database.ts";
import { type RequestOptions, sendRequest } from "../support/http.ts";
import { type OpenAiServer, openAiServer } from "../support/openai-server.ts";
import { type Documented, operationsOf } from "../support/openapi-validator.ts";
import { createAdmin, createUser, type TestUser } from "../support/people.ts";
import { startTestServer } from "../support/server.ts";
import { createServiceKey } from "../support/service-keys.ts";
import { STRIPE_KEY, type StripeServer, stripeServer } from "../support/stripe-server.ts";
import { testDatabase } from "../support/test-database.ts";
import { GENEROUS_LIMITS } from "../support/variables.ts";
import { createdEvent, createTestData, subscribed, type TestData } from "./test-data.ts";

const CRON_SECRET = "only-for-tests-0123456789";

const test = testDatabase(0);
let model: OpenAiServer;
let stripe: StripeServer;
let server: RunningServer;
/** One call of each scope a minute. */
let strict: RunningServer;
/** Its database is gone. */
let cut: RunningServer;
let testData: TestData;
let serviceKey: string;
/** One call an hour. */
let spentKey: string;
/** Without the permission for anything here. */
let weakKey: string;

beforeAll(async () => {
  model = await openAiServer();
  model.answer((exchange) => {
    exchange.say("Hello");
    exchange.finish();
  });
  stripe = await stripeServer();
  const once = Object.fromEntries(Object.keys(GENEROUS_LIMITS).map((name) => [name, "1/60"]));
  server = await startTestServer(test.url, {
    ...GENEROUS_LIMITS,
    AI_BASE_URL: model.baseUrl,
    AI_MODEL: "m",
    PROVIDER_A_API_KEY: STRIPE_KEY,
    PROVIDER_A_API_URL: stripe.url,
    WEBHOOK_MAX_BYTES: "4096",
    CRON_SECRET,
  });
  strict = await startTestServer(test.url, { ...once, AI_BASE_URL: model.baseUrl, AI_MODEL: "m" });
  const droppedDatabase = await freshDatabase(0);
  cut = await startTestServer(droppedDatabase.url, { ...GENEROUS_LIMITS, CRON_SECRET });
  await droppedDatabase.drop();
  testData = await createTestData(server.url, test);
  ({ key: serviceKey } = await createServiceKey(test));
  ({ key: spentKey } = await createServiceKey(test, { limit: 1, windowSeconds: 3_600 }));
  ({ key: weakKey } = await createServiceKey(test, { permissions: ["events:read"] }));
});
afterAll(async () => {
  for (const running of [server, strict, cut]) await running.close();
  await model.close();
  await stripe.close();
});

type Sent = RequestOptions & { id?: string; query?: string };

/** Occurs only when the account is deleted at the same moment. */
const BY_CHANCE: ReadonlySet<string> = new Set([
  "usersMe 404",
  "usersUpdateProfile 404",
  "billingCreateCheckout 404",
  // Only while an answer is being written: see chat-resume.test.ts.
  "resumeAnswer 200",
]);

const MADE = { url: "https://93.184.215.14/hook", types: ["user.deleted"] };

const NEW_SERVICE_KEY = { name: "Shop", permissions: ["entitlements:read"] };

async function serviceKeyId(): Promise<{ id: string }> {
  return { id: (await createServiceKey(test)).id };
}

/** A new endpoint, at an address that nothing is sent to. */
async function ofEndpoint(): Promise<{ id: string }> {
  const [row] = await test.rows<{ id: string }>(
    `insert into event_endpoint (url, types, enabled, secret)
     values ('https://127.0.0.1/hook', '{user.deleted}', false, 'whsec_AAAA') returning id`,
  );
  return { id: row?.id as string };
}

/** A successful call of each operation: its caller and its input. */
type Good = { by: "anyone" | "newcomer" | "user" | "admin" | "service"; sent?: () => Sent | Promise<Sent> };

const GOOD: Record<string, Good> = {
  plansList: { by: "anyone" },
  paymentsList: { by: "user" },
  usersList: { by: "user" },
  usersMe: { by: "user" },
  usersSearch: { by: "admin" },
  usersUpdateProfile: {
    by: "user",
    sent: () => ({ body: { name: "Ada", locale: "de", preferences: { theme: "dark" } } }),
  },
  usersPutExternal: {
    by: "service",
    sent: () => ({ id: "crm-1", body: { email: "external@example.com", name: "External" } }),
  },
  entitlementsShow: { by: "user" },
  entitlementsCheck: { by: "user", sent: () => ({ body: { feature: "events", amount: 2 } }) },
  usageRecord: {
    by: "service",
    sent: () => ({
      body: { user: testData.owner.id, feature: "events", amount: 1, idempotencyKey: randomUUID() },
    }),
  },
  subscriptionsList: { by: "user" },
  subscriptionsShow: { by: "user", sent: () => ({ id: testData.subscriptionId }) },
  subscriptionsLastChange: { by: "admin", sent: () => ({ id: testData.subscriptionId }) },
  subscriptionsHistory: { by: "user", sent: () => ({ id: testData.subscriptionId }) },
  subscriptionsOutOfOrder: {
    by: "admin",
    sent: async () => {
      await test.rows("update subscription set out_of_order = true where id = $1", [testData.subscriptionId]);
      return {};
    },
  },
  subscriptionsReconcile: {
    by: "admin",
    sent: async () => {
      const [row] = await test.rows<{ id: string }>(
        "select provider_subscription_id as id from subscription where id = $1",
        [testData.subscriptionId],
      );
      const id = row?.id as string;
      stripe.subscriptions.set(id, { id, object: "subscription", status: "active" });
      return { id: testData.subscriptionId };
    },
  },
  subscriptionsDismiss: {
    by: "admin",
    sent: async () => {
      await test.rows("update subscription set out_of_order = true where id = $1", [testData.subscriptionId]);
      return { id: testData.subscriptionId, body: { reason: "refunded by hand" } };
    },
  },
  billingCreateCheckout: {
    by: "newcomer",
    sent: () => ({ body: { planId: "pro", seats: 2, provider: "provider-a" } }),
  },
  billingChangeSubscription: {
    by: "user",
    // The present plan: the provider is not asked.
    sent: () => ({ id: testData.subscriptionId, body: { planId: "team", when: "now" } }),
  },
  billingOpenPortal: { by: "user", sent: () => ({ body: {} }) },
  apiKeysList: { by: "user" },
  apiKeysCreate: { by: "user", sent: () => ({ body: { name: "CI", expiresAt: "2031-01-01T00:00:00Z" } }) },
  apiKeysRevoke: {
    by: "user",
    sent: async () => {
      const { cookie } = testData.owner;
      return {
        id: (await sendRequest(server.url, "POST", "/api/api-keys", { cookie, body: { name: "x" } })).body.id,
      };
    },
  },
  serviceKeysList: { by: "admin" },
  serviceKeysCreate: { by: "admin", sent: () => ({ body: NEW_SERVICE_KEY }) },
  serviceKeysRotate: { by: "admin", sent: serviceKeyId },
  serviceKeysRevoke: { by: "admin", sent: serviceKeyId },
  notificationsList: { by: "user" },
  notificationsMarkRead: { by: "user", sent: () => ({ id: testData.notificationId }) },
  auditList: { by: "admin" },
  eventsList: { by: "service" },
  streamEvents: { by: "service" },
  eventEndpointsList: { by: "admin" },
  eventEndpointsCreate: { by: "admin", sent: () => ({ body: MADE }) },
  eventEndpointsShow: { by: "admin", sent: ofEndpoint },
  eventEndpointsUpdate: {
    by: "admin",
    sent: async () => ({ ...(await ofEndpoint()), body: { rotateSecret: true } }),
  },
  eventEndpointsDelete: { by: "admin", sent: ofEndpoint },
  eventEndpointsTest: { by: "admin", sent: async () => ({ ...(await ofEndpoint()), body: {} }) },
  eventEndpointsDeliveries: { by: "admin", sent: ofEndpoint },
  eventEndpointsReplay: { by: "admin", sent: async () => ({ ...(await ofEndpoint()), body: {} }) },
  webhooksList: { by: "admin" },
  webhooksStatistics: { by: "admin" },
  webhooksShow: { by: "admin", sent: () => ({ id: testData.failed }) },
  webhooksReplay: { by: "admin", sent: () => ({ id: testData.applied, body: { force: true } }) },
  sendMessage: { by: "user", sent: () => ({ body: { messages: [{ role: "user", content: "Hello?" }] } }) },
  resumeAnswer: { by: "user", sent: () => ({ id: "no-such-conversation" }) },
  showVersion: { by: "anyone" },
  showHealth: { by: "anyone" },
  showReadiness: { by: "anyone" },
  showDocument: { by: "anyone" },
  receiveWebhook: { by: "anyone", sent: () => webhook(testData.owner.id) },
  runJob: { by: "anyone", sent: () => ({ id: "session-clean-up", key: CRON_SECRET }) },
};

let events = 0;

function webhook(userId: string): Sent {
  events += 1;
  const { rawBody, headers } = createdEvent(`documented-${events}`, userId);
  return { id: "provider-a", body: rawBody, headers };
}

/** Calls that fail, one for each documented error of an operation. */
async function wrongCalls(operation: Documented, good: Good, version: string): Promise<Call[]> {
  const { operationId, path, method } = operation;
  const credentials = await credentialsOf(good);
  const sent = (await good.sent?.()) ?? {};
  const called = (more: Sent, on = server): Call => ({ on, ...sent, ...credentials, ...more });
  const calls = [
    // Responds in the form of the current version.
    ...(version === "v1" ? [called({ headers: { ...sent.headers, "x-api-version": "v99" } })] : []),
    called({}, cut),
    called({ cookie: testData.owner.cookie }, cut),
  ];
  if (operationId === "receiveWebhook") {
    return [
      ...calls,
      called({ headers: {} }),
      called({ id: "provider-d" }),
      called({ body: "x".repeat(5_000) }),
      { on: server, ...webhook("nobody_has_heard_of") },
    ];
  }
  if (operationId === "runJob") return [...calls, called({ key: weakKey }), called({ id: "backup" })];
  if (!operation.statuses.includes(401)) return calls;
  const { cookie: _, ...bySomeKey } = { ...called({}), headers: {} };
  calls.push({ ...bySomeKey, key: weakKey });
  if (operation.namesUser) calls.push({ ...bySomeKey, key: serviceKey, query: "user=nobody" });
  if (good.by === "service") {
    for (let n = 0; n < 2; n += 1) calls.push({ ...bySomeKey, key: spentKey });
    calls.push({ ...bySomeKey, key: serviceKey, headers: { origin: "https://app.example.com" } });
  }
  // More than one call a minute.
  const person = good.by === "admin" ? await createAdmin(test) : await createUser(test);
  for (let n = 0; n < 2; n += 1) calls.push(called({ cookie: person.cookie }, strict));
  calls.push(called({ key: "tg_unknown", cookie: testData.owner.cookie }));
  if (method === "GET" || method === "DELETE") calls.push(called({ query: "nothing=1" }));
  else calls.push(called({ body: "[]" }), called({ body: " ".repeat(1_100_000) }));
  if (good.by !== "anyone") calls.push({ on: server, ...sent });
  if (good.by === "admin") calls.push(called({ cookie: testData.owner.cookie }));
  if (method !== "GET") calls.push(called({ headers: { origin: "https://evil.example.com" } }));
  if (path.includes("{id}")) calls.push(called({ id: "no id" }), called({ id: unknownLike(sent.id) }));
  return [...calls, ...(await conflicts(operationId))];
}

type Call = Sent & { on: RunningServer };

function unknownLike(id = ""): string {
  return /^\d+$/.test(id) ? "999999" : "0d4c2f6e-6c3b-4a53-9d0a-3f1f6a0e7b11";
}

async function conflicts(operationId: string): Promise<Call[]> {
  if (operationId === "entitlementsShow")
    return [{ on: server, cookie: testData.owner.cookie, headers: { "if-none-match": "*" } }];
  if (operationId === "entitlementsCheck")
    return [{ on: server, cookie: testData.owner.cookie, body: { feature: "nothing" } }];
  if (operationId === "resumeAnswer")
    return [{ on: server, cookie: testData.owner.cookie, id: "c".repeat(256) }];
  if (operationId === "usersPutExternal") {
    const body = { email: testData.owner.email, name: "Taken" };
    return [{ on: server, key: serviceKey, id: "crm-2", body }];
  }
  if (operationId === "eventsList" || operationId === "streamEvents") {
    await test.rows("update outbound_relay set dropped_until = 1");
    return [{ on: server, key: serviceKey, query: `after=evt_${"0".repeat(24)}` }];
  }
  if (operationId === "usageRecord") {
    const body = {
      user: testData.owner.id,
      feature: "events",
      amount: 2_000_000_000,
      idempotencyKey: "large",
    };
    return [
      { on: server, key: serviceKey, body },
      // In the query string it would be refused, as the body names a user already.
      { on: server, key: serviceKey, body: { ...body, user: "nobody" } },
    ];
  }
  if (operationId === "webhooksReplay")
    return [{ on: server, id: testData.applied, body: {}, cookie: testData.admin.cookie }];
  if (operationId === "billingCreateCheckout")
    return [{ on: server, body: { planId: "team" }, cookie: testData.owner.cookie }];
  const { id, cookie } = await createUser(test);
  if (operationId === "billingOpenPortal")
    return [
      { on: server, cookie },
      { on: server, cookie, body: { subscriptionId: unknownLike() } },
    ];
  if (operationId === "billingChangeSubscription") {
    await subscribed(server.url, `ended-${id}`, id);
    const [row] = await test.rows<{ id: string }>(
      "update subscription set status = 'canceled' where user_id = $1 returning id",
      [id],
    );
    return [{ on: server, id: row?.id as string, body: { seats: 3, when: "now" }, cookie }];
  }
  if (operationId === "subscriptionsReconcile") {
    // The provider does not know it.
    await subscribed(server.url, `unknown-${id}`, id);
    const [row] = await test.rows<{ id: string }>("select id from subscription where user_id = $1", [id]);
    return [{ on: server, id: row?.id as string, cookie: testData.admin.cookie }];
  }
  if (operationId === "subscriptionsDismiss") {
    const body = { reason: "nothing to review" };
    return [{ on: server, id: testData.subscriptionId, body, cookie: testData.admin.cookie }];
  }
  if (operationId !== "apiKeysCreate") return [];
  await test.rows(
    `insert into api_key (id, user_id, name, prefix, hash)
     select gen_random_uuid(), $1, 'x', 'tg_xxxxxxxx', sha256(($1 || n)::bytea) from generate_series(1, 100) n`,
    [id],
  );
  return [{ on: server, body: { name: "one too many" }, cookie }];
}

async function credentialsOf({ by }: Good): Promise<{ cookie?: string; key?: string }> {
  if (by === "service") return { key: serviceKey };
  if (by === "newcomer") return { cookie: (await createUser(test)).cookie };
  const people: Record<Exclude<Good["by"], "newcomer" | "service">, TestUser | null> = {
    anyone: null,
    user: testData.owner,
    admin: testData.admin,
  };
  const person = people[by];
  return person ? { cookie: person.cookie } : {};
}

async function answerTo(operation: Documented, version: string, { on, id, query, ...request }: Call) {
  const path = operation.path.replace(/\{\w+\}/, encodeURIComponent(id ?? ""));
  // The unknown version is requested by header: in the URL it would be another path.
  const prefix = request.headers?.["x-api-version"] ? "/api" : `/api/${version}`;
  const send = operation.operationId === "streamEvents" ? openStream : sendRequest;
  const response = await send(
    on.url,
    operation.method,
    `${prefix}${path}${query ? `?${query}` : ""}`,
    request,
  );
  return { ...response, contentType: response.headers.get("content-type") };
}

/** A stream does not end by itself: it is closed once it has begun. */
async function openStream(url: string, method: string, path: string, { key, cookie, headers }: Sent) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(headers as Record<string, string>),
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(cookie === undefined ? {} : { cookie }),
    },
  });
  if (!response.ok)
    return { status: response.status, headers: response.headers, text: await response.text() };
  await response.body?.cancel();
  return { status: response.status, headers: response.headers, text: "" };
}

describe.each(["v1", "v2"])("every operation of the document of %s", (version) => {
  let operations: Documented[];
  beforeAll(async () => {
    const { body } = await sendRequest(server.url, "GET", `/api/${version}/openapi.json`);
    // Those below /auth: test/auth/documented-routes.test.ts
    operations = operationsOf(body).filter(({ path }) => !path.startsWith("/auth/"));
  });

  it("is covered by this test", () => {
    expect(operations.map(({ operationId }) => operationId).sort()).toEqual(Object.keys(GOOD).sort());
  });

  // Hundreds of requests, one after another.
  it("returns only documented responses, and each of them", async () => {
    const answered = new Set<string>();
    const faults: string[] = [];
    for (const operation of operations) {
      const { operationId } = operation;
      const good = GOOD[operationId] as Good;
      const sent = (await good.sent?.()) ?? {};
      if (operationId !== "receiveWebhook")
        expect([operationId, operation.bodyFault(sent.body)]).toEqual([operationId, null]);
      const calls: Call[] = [{ on: server, ...sent, ...(await credentialsOf(good)) }];
      for (const call of [...calls, ...(await wrongCalls(operation, good, version))]) {
        const response = await answerTo(operation, version, call);
        answered.add(`${operationId} ${response.status}`);
        const fault = operation.fault(response);
        if (fault) faults.push(`${operationId}: ${fault}`);
      }
    }
    expect(faults).toEqual([]);
    const documented = operations.flatMap(({ operationId, statuses }) =>
      statuses.map((status) => `${operationId} ${status}`),
    );
    const isNeverMet = (response: string) => !answered.has(response) && !BY_CHANCE.has(response);
    const unmet = documented.filter(isNeverMet);
    expect(unmet.filter((answer) => version === "v1" || !/^(show\w+|runJob) 400$/.test(answer))).toEqual([]);
  }, 600_000);

  it("accepts every parameter in every documented form", async () => {
    for (const operation of operations) {
      const good = GOOD[operation.operationId] as Good;
      for (const { name, schema, ...parameter } of operation.parameters) {
        if (parameter.in !== "query") continue;
        for (const value of valuesOf(schema)) {
          const call = {
            on: server,
            ...(await good.sent?.()),
            ...(await credentialsOf(good)),
            query: `${name}=${value}`,
          };
          const { status } = await answerTo(operation, version, call);
          expect([operation.operationId, name, value, status]).toEqual([
            operation.operationId,
            name,
            value,
            200,
          ]);
        }
      }
    }
  });
});

/** Examples of what the schema allows. */
function valuesOf({ anyOf, enum: words, minimum, maximum }: Record<string, unknown>): unknown[] {
  const forms = (anyOf ?? []) as Record<string, unknown>[];
  return [...((words ?? []) as unknown[]), minimum, maximum, ...forms.flatMap(valuesOf)].filter(
    (value) => value !== undefined,
  );
}

describe("the check of a response against the document", () => {
  it("reports a response that differs", async () => {
    const { body } = await sendRequest(server.url, "GET", "/api/openapi.json");
    const operation = operationsOf(body).find(
      ({ operationId }) => operationId === "subscriptionsShow",
    ) as Documented;
    const good = await answerTo(operation, "v1", {
      on: server,
      id: testData.subscriptionId,
      cookie: testData.owner.cookie,
    });
    const faultOf = (change: object) =>
      operation.fault({ ...good, text: JSON.stringify({ ...JSON.parse(good.text), ...change }) });
    expect(operation.fault(good)).toBeNull();
    for (const change of [
      { seats: "7" },
      { seats: 1.5 },
      { status: "open" },
      { id: "1" },
      { createdAt: "yesterday" },
      { userId: undefined },
      { secret: "x" },
    ]) {
      expect([change, faultOf(change)]).toEqual([change, expect.stringMatching(/^200: /)]);
    }
    expect(operation.fault({ ...good, status: 418 })).toMatch(/not documented/);
    expect(operation.fault({ ...good, contentType: "text/html" })).toMatch(/not documented/);
    expect(operation.fault({ ...good, headers: new Headers() })).toMatch(/is missing/);
    expect(operation.fault({ ...good, status: 404 })).toMatch(/error/);
  });
});
