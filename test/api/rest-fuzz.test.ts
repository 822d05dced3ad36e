import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { hasBody } from "../../src/api/rest/input.ts";
import { ROUTES } from "../../src/api/rest/routes.ts";
import { freshServer } from "../support/fresh-server.ts";
import { type HttpResponse, sendRequest } from "../support/http.ts";
import { createTestData, type TestData } from "./test-data.ts";

/** These may also return 503: no provider is configured. */
const UNCONFIGURED = new Set(["POST /checkout", "POST /portal", "POST /subscriptions/:id/reconcile"]);

const RUNS = 120;

const { test, server } = freshServer();
let testData: TestData;
beforeAll(async () => {
  testData = await createTestData(server.url, test);
});

/** Texts that have broken parsers before. */
const nasty = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme" }),
  fc.constantFrom(
    ...["", "\0", "a\0b", "\ud83e", "\udc00\ud800", "\ufeff", "\u2028", "null", "true", "-0", "1e400", "NaN"],
    ...["__proto__", "constructor", "toString", "hasOwnProperty", "'; select pg_sleep(1)--", "%s%n", "\\"],
    ...[
      "9223372036854775808",
      "999999999999999999",
      "0x10",
      "../../etc/passwd",
      "🧭".repeat(200),
      "x".repeat(5_000),
    ],
    ...["0d4c2f6e-6c3b-4a53-9d0a-3f1f6a0e7b11", "MTcwMDAwMDAwMDAwMDAwMC4x", "2030-01-31T00:00:00Z"],
    ...[
      "+010000-01-01T00:00:00Z",
      "0000-01-01T00:00:00Z",
      "0001-01-01T00:00:00+23:59",
      "9999-12-31T23:59:59-23:59",
    ],
  ),
);

const cursor = fc
  .tuple(fc.oneof(fc.bigInt().map(String), nasty), nasty)
  .map(([micros, id]) => Buffer.from(`${micros}.${id}`).toString("base64url"));

const NAMES = [
  ...[
    "limit",
    "cursor",
    "provider",
    "status",
    "type",
    "eventId",
    "subscriptionId",
    "search",
    "id",
    "force",
    "name",
    "locale",
    "preferences",
    "planId",
  ],
  ...["seats", "expiresAt", "theme", "emailNotifications", "role", "__proto__", "constructor", "prototype"],
];
const fieldName = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...NAMES) },
  { weight: 1, arbitrary: nasty },
);

const value = fc.oneof(
  nasty,
  fc.integer(),
  fc.double(),
  fc.constantFrom(null, true, false, "pro", "team", "free", "provider-a", "de", 1, 5, 1.5, -1, 1e300),
  fc.jsonValue({ maxDepth: 3 }),
);

/** The body as sent: mostly JSON. */
const body = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.dictionary(fieldName, value, { maxKeys: 4 }).map((fields) => JSON.stringify(fields)),
  },
  { weight: 2, arbitrary: fc.json({ maxDepth: 4 }) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
  { weight: 1, arbitrary: nasty },
);

const query = fc
  .array(fc.tuple(fieldName, fc.oneof(nasty, cursor, fc.integer().map(String))), { maxLength: 3 })
  .map((pairs) => pairs.map(([name, text]) => `${encoded(name)}=${encoded(text)}`).join("&"))
  // Heads of 16 KiB are refused with 431 before any route.
  .filter((text) => text.length < 10_000);

/** As an id: nothing, and dots that the client removes from the path, name another route. */
const LEADS_ELSEWHERE: ReadonlySet<string> = new Set(["", ".", ".."]);

/** Percent-encoded from Latin-1, so that it is not always valid UTF-8. */
function encoded(text: string): string {
  return Buffer.from(text)
    .toString("latin1")
    .replaceAll(/[^A-Za-z0-9_.~-]/g, (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

describe.each(ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const))(
  "%s",
  (name, route) => {
    it("never answers random requests with a 5xx", async () => {
      const { owner, key, spareKey, admin, subscriptionId, notificationId, applied, failed } = testData;
      const ownIds = fc.constantFrom(subscriptionId, notificationId, applied, failed, spareKey.id);
      await fc.assert(
        fc.asyncProperty(
          fc.record({
            id: fc.oneof(
              ownIds,
              nasty.filter((text) => !LEADS_ELSEWHERE.has(text)),
            ),
            query,
            body,
            caller: fc.constantFrom(
              { cookie: owner.cookie },
              { cookie: admin.cookie },
              { "x-api-key": key.key },
            ),
            version: fc.constantFrom("", "/v1", "/v2"),
            type: fc.constantFrom(
              "application/json",
              "application/json",
              "application/json; charset=utf-8",
              "text/plain",
            ),
          }),
          async (sent) => {
            const path = `/api${sent.version}${route.path.replace(":id", encoded(sent.id))}`;
            const response = await sendRequest(server.url, route.method, `${path}?${sent.query}`, {
              headers: { ...sent.caller, ...(hasBody(route.method) ? { "content-type": sent.type } : {}) },
              ...(hasBody(route.method) ? { body: sent.body } : {}),
            });
            expectNoDefect(name, response);
          },
        ),
        { numRuns: RUNS, endOnFailure: true },
      );
    });
  },
);

function expectNoDefect(name: string, { status, headers, body }: HttpResponse): void {
  expect(headers.get("content-type")).toMatch(/^application\/json/);
  if (status < 400) return;
  const isV2 = headers.get("x-api-version") === "v2";
  expect(Object.keys(body)).toEqual(isV2 ? ["error", "reason", "params"] : ["error"]);
  expect(body.error).toMatch(/\S/);
  expect(body.error.length).toBeLessThan(6_000);
  expect([...[400, 403, 404, 409, 413], ...(UNCONFIGURED.has(name) ? [503] : [])]).toContain(status);
}

describe("a NUL or a lone surrogate", () => {
  const FIELDS: [string, string, (text: string) => object][] = [
    ["PATCH", "/api/users/me", (name) => ({ name })],
    ["PATCH", "/api/users/me", (locale) => ({ locale })],
    ["PATCH", "/api/users/me", (theme) => ({ preferences: { theme } })],
    ["PATCH", "/api/users/me", (field) => ({ [field]: 1 })],
    ["POST", "/api/api-keys", (name) => ({ name })],
    ["POST", "/api/api-keys", (expiresAt) => ({ name: "x", expiresAt })],
    ["POST", "/api/checkout", (planId) => ({ planId })],
    ["POST", "/api/checkout", (provider) => ({ planId: "pro", provider })],
  ];
  const TEXTS = ["\0", "a\0", "\0a", "\ud83e", "a\udd2d", "\u0000\uffff"];

  it("returns 400 for it in any field of a body", async () => {
    for (const [method, path, fields] of FIELDS) {
      for (const text of TEXTS) {
        const { status, body } = await sendRequest(server.url, method, path, {
          headers: { cookie: testData.owner.cookie, "content-type": "application/json" },
          body: JSON.stringify(fields(text)),
        });
        expect([path, text, status, Object.keys(body)]).toEqual([path, text, 400, ["error"]]);
      }
    }
  });

  it("returns 400 for it in any parameter", async () => {
    const places = [
      ...["/users?cursor=", "/subscriptions?cursor=", "/api-keys?cursor=", "/notifications?cursor="],
      ...[
        "/webhook-deliveries?cursor=",
        "/webhook-deliveries?type=",
        "/webhook-deliveries?status=",
        "/plans?cursor=",
      ],
      ...[
        "/webhook-deliveries?eventId=",
        "/webhook-deliveries?subscriptionId=",
        "/webhook-statistics?provider=",
        "/out-of-order-subscriptions?cursor=",
        "/user-directory?search=",
        "/user-directory?cursor=",
        `/subscriptions/${testData.subscriptionId}/history?cursor=`,
        "/webhook-deliveries?provider=",
        "/users?limit=",
        "/subscriptions/",
        "/webhook-deliveries/",
        "/users?x=",
      ],
    ];
    for (const place of places) {
      for (const text of ["%00", "a%00", "%00a", "1%00", `${Buffer.from("1.\0").toString("base64url")}%00`]) {
        const { status, body } = await sendRequest(server.url, "GET", `/api${place}${text}`, {
          headers: { cookie: (place.includes("/history") ? testData.owner : testData.admin).cookie },
        });
        expect([place, text, status, Object.keys(body)]).toEqual([place, text, 400, ["error"]]);
      }
    }
  });
});
