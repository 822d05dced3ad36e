import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readConfig } from "../../../src/config/config.ts";
import { createLog } from "../../../src/observability/log.ts";
import { type RunningServer, startServer } from "../../../src/server.ts";
import { numberedEvent } from "../../fixtures/numbered-event.ts";
import { startReceiver } from "../../outbound/receiver.ts";
import { builtPages } from "../../support/built-pages.ts";
import { eventually } from "../../support/eventually.ts";
import { deliverUntilAnswered, sendRequest } from "../../support/http.ts";
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from "../../support/otlp-receiver.ts";
import { createAdmin, createUser, type TestUser } from "../../support/people.ts";
import { STRIPE_KEY, type StripeServer, stripeServer } from "../../support/stripe-server.ts";
import { testDatabase } from "../../support/test-database.ts";
import { GENEROUS_LIMITS, serverVariables } from "../../support/variables.ts";

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const CRON_SECRET = "a-secret-of-sixteen-or-more";
const MARKER = "x7marker7x";

const test = testDatabase();
let collector: OtlpReceiver;
let stripe: StripeServer;
let server: RunningServer;
let person: TestUser;
const lines: string[] = [];

beforeAll(async () => {
  await builtPages();
  collector = await startOtlpReceiver();
  stripe = await stripeServer();
  const config = readConfig({
    ...serverVariables(test.url),
    ...GENEROUS_LIMITS,
    PROVIDER_A_API_KEY: STRIPE_KEY,
    PROVIDER_A_API_URL: stripe.url,
    CRON_SECRET,
    OUTBOUND_ALLOW: "127.0.0.1",
    OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/otlp/`,
    OTEL_EXPORTER_OTLP_HEADERS: "x-api-key=a%20secret,x-tenant=one",
    OTEL_SERVICE_NAME: "billing",
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
    OTEL_BSP_SCHEDULE_DELAY: "50",
  });
  server = await startServer(config, { log: createLog("info", { write: (line) => void lines.push(line) }) });
  person = await createUser(test);
});
afterAll(async () => {
  await server.close();
  await Promise.all([collector.close(), stripe.close()]);
});

async function spanWhere(isWanted: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan> {
  await eventually(async () => collector.spans.some(isWanted), true);
  return collector.spans.find(isWanted) as ReceivedSpan;
}

/** The server span of a request that was sent with this parent. */
function requestSpan(parentSpanId: string): Promise<ReceivedSpan> {
  return spanWhere((span) => span.parentSpanId === parentSpanId);
}

function childOf({ spanId }: ReceivedSpan, name: string): Promise<ReceivedSpan> {
  return spanWhere((span) => span.parentSpanId === spanId && span.name === name);
}

let requests = 0;
function newParent(): { parentSpanId: string; traceparent: string } {
  requests += 1;
  const parentSpanId = `00000000000${String(10_000 + requests)}`;
  return { parentSpanId, traceparent: `00-${TRACE_ID}-${parentSpanId}-01` };
}

describe("a server with OTEL_EXPORTER_OTLP_ENDPOINT", () => {
  it.each([
    ["GET /api/version", 200, "GET /api/version"],
    ["GET /api/v2/plans", 200, "GET /api/plans"],
    ["GET /api/subscriptions/a-b-c", 401, "GET /api/subscriptions/:id"],
    [
      `GET /api/auth/reset-password/${MARKER}?callbackURL=/${MARKER}`,
      302,
      "GET /api/auth/reset-password/:token",
    ],
    [`GET /api/trpc/billing.plans?input=${MARKER}`, 400, "GET /api/trpc/*"],
    ["POST /api/graphql", 400, "POST /api/graphql"],
    ["POST /api/webhooks/provider-a", 400, "POST /api/webhooks/:slot"],
    [`GET /api/${MARKER}`, 404, "GET"],
    [`GET /sign-in?next=${MARKER}`, 200, "GET /sign-in"],
    [`GET /admin/users/${MARKER}`, 307, "GET /admin/users/[id]"],
    ["GET /_next/static/missing.js", 404, "GET /_next/static/*"],
    [`PROPFIND /${MARKER}`, 405, "HTTP"],
  ])("exports one span for %s", async (request, status, name) => {
    const { parentSpanId, traceparent } = newParent();
    const [method = "", path = ""] = request.split(" ");
    const response = await sendRequest(server.url, method, path, {
      headers: { traceparent, "x-marker": MARKER },
      ...(method === "POST" ? { body: { email: `${MARKER}@example.com` } } : {}),
    });
    const span = await requestSpan(parentSpanId);
    expect(span).toMatchObject({ traceId: TRACE_ID, name, kind: 2, isError: false });
    expect(span.attributes["http.response.status_code"]).toBe(response.status);
    expect(span.attributes["url.path"] ?? "none").toBe(/ [^:*[]+$/.test(name) ? name.split(" ")[1] : "none");
    expect([response.status, span.attributes["http.route"] ?? method]).toEqual([
      status,
      name.includes(" ") ? name.split(" ")[1] : method,
    ]);
    expect(
      collector.spans.filter((span) => span.kind === 2 && span.parentSpanId === parentSpanId),
    ).toHaveLength(1);
  });

  it("posts protobuf with the configured headers and the service's name", async () => {
    await spanWhere(() => true);
    expect(collector.requests[0]).toMatchObject({
      path: "/otlp/v1/traces",
      headers: { "content-type": "application/x-protobuf", "x-api-key": "a secret", "x-tenant": "one" },
    });
    expect(collector.resource).toMatchObject({
      "service.name": "billing",
      "deployment.environment.name": "test",
    });
  });

  it("exports the operation of a request and its statements below it", async () => {
    const { parentSpanId, traceparent } = newParent();
    await sendRequest(server.url, "GET", "/api/subscriptions", { ...person, headers: { traceparent } });
    const request = await requestSpan(parentSpanId);
    const operation = await childOf(request, "subscriptions.list");
    expect(operation.kind).toBe(1);
    expect(await childOf(operation, "subscriptions_of_user")).toMatchObject({
      traceId: TRACE_ID,
      kind: 3,
      attributes: { "db.system.name": "postgresql" },
    });
  });

  it("marks refused operations, but not as errors", async () => {
    const { parentSpanId, traceparent } = newParent();
    await sendRequest(server.url, "GET", "/api/users/me", { headers: { traceparent } });
    const request = await requestSpan(parentSpanId);
    const operation = await childOf(request, "users.me");
    expect(operation).toMatchObject({ isError: false, attributes: { "tollgate.refusal": "unauthorized" } });
  });

  it("links a group of the intake with the requests of its deliveries, and them with it", async () => {
    const { parentSpanId, traceparent } = newParent();
    const delivery = numberedEvent("traced", 1);
    const headers = { ...delivery.headers, traceparent };
    const response = await deliverUntilAnswered(server.url, "provider-a", { ...delivery, headers });
    expect(response.status).toBe(200);
    // A busy server may have answered 503 before: then there are several requests.
    const sent = () => collector.spans.filter((span) => span.parentSpanId === parentSpanId);
    const group = await spanWhere(({ links }) => sent().some(({ spanId }) => spanId === links[0]?.spanId));
    const request = sent().find(({ spanId }) => spanId === group.links[0]?.spanId);
    expect(group).toMatchObject({
      name: "intake group",
      parentSpanId: "",
      attributes: { "tollgate.group.events": 1 },
    });
    expect(group.traceId).not.toBe(TRACE_ID);
    expect(request?.links).toEqual([{ traceId: group.traceId, spanId: group.spanId }]);
    await childOf(group, "commit");
  });

  it("sends its trace to payment providers, without queries", async () => {
    const sent: (string | undefined)[] = [];
    stripe.interfere(async ({ headers }) => void sent.push(headers.traceparent as string | undefined));
    const { parentSpanId, traceparent } = newParent();
    const { status } = await sendRequest(server.url, "POST", "/api/checkout", {
      ...person,
      body: { planId: "pro", seats: 1 },
      headers: { traceparent, tracestate: `vendor=${MARKER}` },
    });
    stripe.interfere(null);
    expect(status).toBe(200);
    await requestSpan(parentSpanId);
    const calls = collector.spans.filter(
      (span) => span.traceId === TRACE_ID && span.attributes["tollgate.slot"],
    );
    expect(calls.length).toBeGreaterThan(0);
    expect(calls.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`).sort()).toEqual(sent.sort());
    for (const { attributes } of calls) {
      expect(attributes["url.full"]).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1\/[^?]+$/);
      expect(attributes["http.response.status_code"]).toBe(200);
    }
  });

  it("sends a trace with outbound events", async () => {
    const receiver = await startReceiver();
    const admin = await createAdmin(test);
    const endpoint = await sendRequest(server.url, "POST", "/api/event-endpoints", {
      ...admin,
      body: { url: `${receiver.url}?${MARKER}`, types: ["user.updated"] },
    });
    expect(endpoint.status).toBe(201);
    await sendRequest(server.url, "POST", `/api/event-endpoints/${endpoint.body.id}/test`, admin);
    await eventually(async () => receiver.received.length > 0, true);
    const sent = receiver.received[0]?.headers.traceparent as string;
    const span = await spanWhere(({ traceId, spanId }) => sent === `00-${traceId}-${spanId}-01`);
    expect(span).toMatchObject({
      name: "POST",
      kind: 3,
      attributes: { "server.address": "127.0.0.1", "http.response.status_code": 204 },
    });
    await receiver.close();
  });

  it("exports a span per run of a job", async () => {
    const headers = { authorization: `Bearer ${CRON_SECRET}` };
    await eventually(
      async () => (await sendRequest(server.url, "GET", "/api/cron/retention", { headers })).status,
      200,
    );
    await spanWhere(({ name, parentSpanId }) => name === "job retention" && parentSpanId === "");
  });

  it("writes the trace into log entries", async () => {
    const { parentSpanId, traceparent } = newParent();
    const headers = { traceparent };
    await sendRequest(server.url, "POST", "/api/webhooks/provider-b", { body: {}, headers });
    const request = await requestSpan(parentSpanId);
    const [entry] = lines.map((line) => JSON.parse(line)).filter(({ slot }) => slot === "provider-b");
    expect(entry).toMatchObject({ trace_id: TRACE_ID, span_id: request.spanId });
  });

  it("starts a trace of its own for a malformed traceparent", async () => {
    const before = collector.spans.length;
    for (const traceparent of [
      `00-${"0".repeat(32)}-00f067aa0ba902b7-01`,
      `ff-${TRACE_ID}-00f067aa0ba902b7-01`,
      `00-${TRACE_ID}-00f067aa0ba902b7-01-more`,
      MARKER,
    ])
      await sendRequest(server.url, "GET", "/api/health", { headers: { traceparent } });
    const roots = async () =>
      collector.spans
        .slice(before)
        .filter(({ name, parentSpanId }) => name === "GET /api/health" && !parentSpanId).length;
    await eventually(roots, 4);
  });

  it("exports nothing that was in a query, a token, an address or a body", () => {
    expect(collector.requests.length).toBeGreaterThan(0);
    for (const { bytes } of collector.requests) {
      for (const secret of [MARKER, person.email, "@example.com", STRIPE_KEY, CRON_SECRET])
        expect(bytes.includes(secret)).toBe(false);
    }
  });

  it("serves requests while the collector refuses, logs that once, and exports again afterwards", async () => {
    collector.status = 400;
    const refused = () => lines.filter((line) => line.includes("traces could not be exported"));
    const before = collector.requests.length;
    await eventually(async () => {
      expect((await sendRequest(server.url, "GET", "/api/health")).status).toBe(200);
      return collector.requests.length >= before + 3 && refused().length > 0;
    }, true);
    expect(refused()).toHaveLength(1);
    expect(refused()[0]).not.toContain("trace_id");
    collector.status = 200;
    await eventually(async () => {
      await sendRequest(server.url, "GET", "/api/health");
      return lines.some((line) => line.includes("traces are exported again"));
    }, true);
  });
});
