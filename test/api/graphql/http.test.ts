import { getIntrospectionQuery } from "graphql";
import { beforeAll, describe, expect, it } from "vitest";
import { readConfig } from "../../../src/config/config.ts";
import type { Database } from "../../../src/store/database.ts";
import { freshServer } from "../../support/fresh-server.ts";
import { type HttpResponse, listen, sendRequest } from "../../support/http.ts";
import { createUser, type TestUser } from "../../support/people.ts";
import { testApi } from "../unguarded-api.ts";
import { graphqlApp } from "./graphql-app.ts";
import { queryGraphql, refusals } from "./query-graphql.ts";

const { test, server } = freshServer({ users: 1 });
let person: TestUser;

beforeAll(async () => {
  person = await createUser(test);
});

const MANY_ALIASES = Array.from({ length: 16 }, (_, n) => `a${n}: __typename`).join(" ");
const RENAME = `mutation { updateProfile(name: "Renamed") { name } }`;

function get(
  parameters: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<HttpResponse> {
  return sendRequest(server.url, "GET", `/api/graphql?${new URLSearchParams(parameters)}`, {
    cookie: person.cookie,
    headers,
  });
}

async function expectUnchanged(): Promise<void> {
  const [row] = await test.rows(`select name from "user" where id = $1`, [person.id]);
  expect(row).toEqual({ name: person.name });
}

describe("GET", () => {
  it("runs a query", async () => {
    const response = await get({
      query:
        "query other { unreadCount } query mine($limit: Int!) { subscriptions(limit: $limit) { nextCursor } }",
      operationName: "mine",
      variables: `{"limit":1}`,
      extensions: "{}",
    });
    expect(response.status).toBe(200);
    expect(response.body).toEqual({ data: { subscriptions: { nextCursor: null } } });
  });

  it.each([
    ["alone", { query: RENAME }],
    [
      "beside a query, by its name",
      { query: `query a { unreadCount } ${RENAME.replace("mutation", "mutation b")}`, operationName: "b" },
    ],
    ["with an anonymous selection beside it", { query: `${RENAME} query a { unreadCount }` }],
    [
      "through a fragment",
      { query: `mutation { ...M } fragment M on Mutation { updateProfile(name: "Renamed") { name } }` },
    ],
  ])("never runs a mutation %s", async (_name, parameters) => {
    const response = await get(parameters as Record<string, string>);
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.status).toBeLessThan(500);
    expect(response.body.data).toBeUndefined();
    await expectUnchanged();
  });

  it("returns 405 with Allow for a mutation", async () => {
    const response = await get({ query: RENAME });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("POST");
    expect(response.body.errors).toMatchObject([
      { extensions: { code: "METHOD_NOT_ALLOWED", reason: "method_not_allowed", params: {} } },
    ]);
  });

  it("answers HEAD without a body, and changes nothing", async () => {
    const head = await sendRequest(server.url, "HEAD", `/api/graphql?query=${encodeURIComponent(RENAME)}`, {
      cookie: person.cookie,
    });
    expect(head.status).toBeGreaterThanOrEqual(400);
    await expectUnchanged();
  });

  it.each([
    [
      "longer than a query string may be",
      `query=${"%20".repeat(3_000)}%7B__typename%7D`,
      413,
      "PAYLOAD_TOO_LARGE",
    ],
    ["without a query", "variables=%7B%7D", 400, "BAD_USER_INPUT"],
    ["with two queries", "query=%7B__typename%7D&query=%7B__typename%7D", 400, "BAD_USER_INPUT"],
    ["with variables that are no object", "query=%7B__typename%7D&variables=%5B1%5D", 400, "BAD_USER_INPUT"],
    ["with variables that are no JSON", "query=%7B__typename%7D&variables=%7B", 400, "BAD_USER_INPUT"],
    [
      "with a variable given twice",
      "query=%7B__typename%7D&variables=%7B%22a%22:1,%22a%22:2%7D",
      400,
      "BAD_USER_INPUT",
    ],
    [
      "with NUL in a variable",
      "query=%7B__typename%7D&variables=%7B%22a%22:%22%5Cu0000%22%7D",
      400,
      "BAD_USER_INPUT",
    ],
  ])("rejects %s", async (_name, queryString, status, code) => {
    const response = await sendRequest(server.url, "GET", `/api/graphql?${queryString}`);
    expect(response.status).toBe(status);
    expect(refusals(response)).toEqual({ "": code });
  });

  it.each([
    ["variables=%7B", "variables: expected valid JSON"],
    ["variables=%5B1%5D", "variables: expected a JSON object"],
    ["extensions=1%20", "extensions: expected a JSON object"],
    ["variables=%7B%22a%22:%22%5Cu0000%22%7D", "variables: expected text without NUL characters"],
  ])("names the query parameter that is refused: %s", async (parameter, message) => {
    const response = await sendRequest(server.url, "GET", `/api/graphql?query=%7B__typename%7D&${parameter}`);
    expect(response.body.errors).toMatchObject([
      { message, extensions: { params: { field: parameter.split("=")[0], problem: "wrong_type" } } },
    ]);
  });

  it.each(["variables=null", "extensions=null", "variables=", "operationName="])(
    "reads an empty parameter as an omitted one: %s",
    async (parameter) => {
      const path = `/api/graphql?query=%7B__typename%7D&${parameter}`;
      const response = await sendRequest(server.url, "GET", path);
      expect(response.body).toEqual({ data: { __typename: "Query" } });
    },
  );

  it("ignores query parameters that other servers accept", async () => {
    for (const query of ["/health", "{ __typename } #/health", "{ __typename } #/graphiql"]) {
      const response = await get({ query });
      expect(response.headers.get("x-yoga-id")).toBeNull();
      expect(response.text).toMatch(/^\{"(data|errors)"/);
    }
  });
});

describe("POST", () => {
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    sendRequest(server.url, "POST", "/api/graphql", { cookie: person.cookie, body, headers });

  it.each([
    ["a form", "application/x-www-form-urlencoded", `query=${encodeURIComponent(RENAME)}`],
    ["plain text", "text/plain", JSON.stringify({ query: RENAME })],
    [
      "plain text that says it is JSON as well",
      "text/plain; a=application/json",
      JSON.stringify({ query: RENAME }),
    ],
    ["a document without JSON", "application/graphql", RENAME],
    ["no type at all", "", JSON.stringify({ query: RENAME })],
    [
      "files",
      "multipart/form-data; boundary=b",
      `--b\r\ncontent-disposition: form-data; name="operations"\r\n\r\n${JSON.stringify({ query: RENAME })}\r\n--b\r\ncontent-disposition: form-data; name="map"\r\n\r\n{}\r\n--b--\r\n`,
    ],
  ])("changes nothing for a body of type %s, which a foreign page can send", async (_name, type, body) => {
    const response = await post(Buffer.from(body), { "content-type": type });
    expect(response.status).toBe(400);
    expect(refusals(response)).toEqual({ "": "BAD_USER_INPUT" });
    await expectUnchanged();
  });

  it.each([
    [{ "sec-fetch-site": "cross-site" }],
    [{ "sec-fetch-site": "same-site" }],
    [{ origin: "https://evil.example.com" }],
    [{ origin: "null" }],
  ])("from a foreign page with the user's cookie changes nothing: %j", async (headers) => {
    const response = await post({ query: RENAME }, headers as Record<string, string>);
    expect(response.status).toBe(403);
    expect(response.body).toEqual({
      errors: [{ message: "Forbidden", extensions: expect.objectContaining({ code: "FORBIDDEN" }) }],
    });
    await expectUnchanged();
  });

  it("ignores a mutation in the URL of a POST", async () => {
    const response = await sendRequest(
      server.url,
      "POST",
      `/api/graphql?query=${encodeURIComponent(RENAME)}`,
      {
        cookie: person.cookie,
        body: { query: "{ __typename }" },
      },
    );
    expect(response.body).toEqual({ data: { __typename: "Query" } });
    await expectUnchanged();
  });

  it("allows no other origin", async () => {
    const response = await post({ query: "{ __typename }" }, { origin: new URL(server.url).origin });
    expect(response.status).toBe(200);
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
    expect(response.headers.get("cross-origin-resource-policy")).toBe("same-origin");
    const preflight = await sendRequest(server.url, "OPTIONS", "/api/graphql", {
      headers: { origin: "https://evil.example.com", "access-control-request-method": "POST" },
    });
    expect(preflight.headers.get("access-control-allow-origin")).toBeNull();
  });

  it.each([
    ["a batch", [{ query: "{ __typename }" }, { query: "{ __typename }" }], 400, "BAD_USER_INPUT"],
    ["a batch of one", [{ query: "{ __typename }" }], 400, "BAD_USER_INPUT"],
    ["a field twice", `{"query":"{ __typename }","query":"{ unreadCount }"}`, 400, "BAD_USER_INPUT"],
    ["another field", { query: "{ __typename }", doc_id: "1" }, 400, "BAD_USER_INPUT"],
    ["a number for a query", { query: 1 }, 400, "BAD_USER_INPUT"],
    ["a list of variables", { query: "{ __typename }", variables: [] }, 400, "BAD_USER_INPUT"],
    [
      "variables nested without end",
      { query: "{ __typename }", variables: { a: JSON.parse("[".repeat(30) + "]".repeat(30)) } },
      400,
      "BAD_USER_INPUT",
    ],
    ["too much", { query: `{ __typename } #${" ".repeat(70_000)}` }, 413, "PAYLOAD_TOO_LARGE"],
    ["nothing", "", 400, "BAD_USER_INPUT"],
  ])("rejects %s", async (_name, body, status, code) => {
    const response = await post(body);
    expect(response.status).toBe(status);
    expect(refusals(response)).toEqual({ "": code });
  });

  it.each([
    ["in the document", { query: String.raw`mutation { changeRole(userId: "\u0000", role: USER) { id } }` }],
    ["in a block of text", { query: String.raw`mutation { updateProfile(name: "a\u{0}b") { id } }` }],
    [
      "in a variable",
      {
        query: "mutation ($id: ID!) { changeRole(userId: $id, role: USER) { id } }",
        variables: { id: "\0" },
      },
    ],
  ])("rejects NUL %s before the database", async (_name, body) => {
    const response = await post(body, { accept: "application/graphql-response+json" });
    expect(response.status).toBe(400);
    expect(response.text).toContain("NUL");
  });

  it.each([
    "subscription { id }",
    "subscription { ...A } fragment A on BillingSubscription { planId seats }",
  ])("rejects subscriptions: %s", async (query) => {
    for (const cookie of [person.cookie, ""]) {
      const { body } = await queryGraphql(server.url, query, { cookie });
      expect(body.data).toBeUndefined();
      expect(body.errors).toMatchObject([{ message: expect.stringContaining("subscription") }]);
      expect(body.errors[0].message).not.toContain("Async Iterable");
    }
  });

  it.each<[string, object]>([
    ["a document that does not parse", { query: "{" }],
    ["an unknown field", { query: "{ mee { id } }" }],
    [
      "a wrong value in a variable",
      { query: "query ($n: Int!) { plans(limit: $n) { nextCursor } }", variables: { n: "x" } },
    ],
    ["a value that is missing", { query: "query ($n: Int!) { plans(limit: $n) { nextCursor } }" }],
    ["no operation", { query: "fragment A on User { id }" }],
    ["another operation", { query: "query A { __typename }", operationName: "B" }],
    ["an operation that is too large", { query: `{ ${MANY_ALIASES} }` }],
    ["a query that is missing", {}],
    ["a query's hash", { extensions: { persistedQuery: { version: 1, sha256Hash: "a".repeat(64) } } }],
    ["an input that an operation refuses", { query: "{ plans(limit: 0) { nextCursor } }" }],
  ])("gives %s a reason and parameters, as other surfaces do", async (_name, body) => {
    const { errors } = (await post(body)).body;
    expect(errors.length).toBeGreaterThan(0);
    for (const { extensions } of errors)
      expect(extensions).toMatchObject({ reason: "invalid_input", params: { problem: expect.any(String) } });
  });

  it("shortens quoted input in errors", async () => {
    const preferences = Object.fromEntries(Array.from({ length: 4_000 }, (_, n) => [`theme${n}`, 1]));
    for (const [query, variables] of [
      ["mutation ($p: PreferencesInput) { updateProfile(preferences: $p) { id } }", { p: preferences }],
      ["query ($p: Slot) { deliveries(provider: $p) { nextCursor } }", { p: "P".repeat(50_000) }],
      [`{ ${"u".repeat(50_000)} }`, {}],
    ] as const) {
      const { body, text } = await queryGraphql(server.url, query, { cookie: person.cookie, variables });
      expect(body.errors[0].message).toMatch(/^(Variable "\$p" got invalid value|Cannot query field)/);
      expect(text.length).toBeLessThan(50_000);
    }
  });

  it("cuts quoted input between characters: other languages read no half of one", async () => {
    const query = "query ($p: Slot) { deliveries(provider: $p) { nextCursor } }";
    for (const start of ["", "x"]) {
      const variables = { p: start + "😀".repeat(400) };
      const { text, body } = await queryGraphql(server.url, query, { cookie: person.cookie, variables });
      expect(body.errors[0].message).toMatch(/\.\.\.$/);
      expect(text).not.toMatch(/\\ud[89a-f]/i);
    }
  });

  it("returns 405 for methods other than GET and POST", async () => {
    for (const method of ["PUT", "DELETE", "PATCH"]) {
      const response = await sendRequest(server.url, method, "/api/graphql", { body: { query: RENAME } });
      expect(response.status).toBe(405);
      expect(response.headers.get("allow")).toBe("GET, HEAD, POST");
      expect(response.body).toEqual({
        errors: [
          {
            message: "Method not allowed",
            extensions: { code: "METHOD_NOT_ALLOWED", reason: "method_not_allowed", params: {} },
          },
        ],
      });
    }
  });

  it("answers in the client's preferred media type, never as a stream", async () => {
    for (const [accept, type] of [
      ["application/graphql-response+json;q=0.5, application/json", "application/json"],
      ["application/json;q=0.5, application/graphql-response+json", "application/graphql-response+json"],
      ["multipart/mixed;deferSpec=20220824, application/json", "application/json"],
      ["text/event-stream", "application/json"],
      ["*/*", "application/json"],
    ] as const) {
      const response = await post({ query: "{ __typename }" }, { accept });
      expect(response.headers.get("content-type")).toBe(`${type}; charset=utf-8`);
      expect(JSON.parse(response.text)).toEqual({ data: { __typename: "Query" } });
    }
  });
});

describe("versions", () => {
  it.each(["/api/v1/graphql", "/api/v2/graphql"])("%s is served as /api/graphql", async (path) => {
    const response = await sendRequest(server.url, "POST", path, {
      cookie: person.cookie,
      body: { query: "{ me { id } }" },
    });
    expect(response.body).toEqual({ data: { me: { id: person.id } } });
    expect(response.headers.get("x-api-version")).toBe(path.slice(5, 7));
    expect((await sendRequest(server.url, "GET", `${path}?query=%7B__typename%7D`)).status).toBe(200);
  });
});

describe("internal details", () => {
  it("are logged with the request id, not sent to the client", async () => {
    const defect = new Error(`relation "secret" does not exist`);
    const database = { run: () => Promise.reject(defect) } as unknown as Database;
    const { app, noted } = testApi({ database });
    const { url, close } = await listen(app);
    const { body, status, headers } = await queryGraphql(url, "{ me { id } plans { items { id } } }", {
      headers: { "x-test-user": "user_0" },
    });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ me: null, plans: { items: expect.any(Array) } });
    expect(body.errors).toEqual([
      {
        message: "Internal server error",
        locations: [{ line: 1, column: 3 }],
        path: ["me"],
        extensions: expect.objectContaining({ code: "INTERNAL_SERVER_ERROR" }),
      },
    ]);
    expect(noted).toEqual([
      {
        fields: { err: defect, requestId: headers.get("x-request-id"), path: "/api/graphql" },
        message: "request failed",
      },
    ]);
    await close();
  });

  it("returns 503 while the database is unreachable", async () => {
    const away: Pick<Database, "run"> = {
      run: () => Promise.reject(Object.assign(new Error("10.0.0.7:5432"), { name: "DatabaseUnavailable" })),
    };
    const app = await graphqlApp(away);
    const { body } = await queryGraphql(app.url, "{ me { id } }", { headers: { "x-test-user": "user_0" } });
    expect(body.errors).toMatchObject([
      { message: "Service unavailable", extensions: expect.objectContaining({ code: "UNAVAILABLE" }) },
    ]);
    await app.close();
  });
});

describe("introspection", () => {
  it("is answered when enabled", async () => {
    const { body } = await queryGraphql(server.url, getIntrospectionQuery());
    expect(body.data.__schema.queryType).toMatchObject({ name: "Query" });
  });

  it.each([
    ["the whole of it", getIntrospectionQuery()],
    ["one type", `{ __type(name: "User") { name } }`],
    ["one type, under another name", `{ typename: __type(name: "User") { name } }`],
    ["through a fragment", "{ ...S } fragment S on Query { __schema { types { name } } }"],
  ])("is refused when disabled: %s", async (_name, query) => {
    const app = await graphqlApp(test.database, { introspection: false });
    const { body } = await queryGraphql(app.url, query);
    expect(body.data).toBeUndefined();
    expect(body.errors[0].message).toContain("introspection has been disabled");
    await app.close();
  });

  it.each([
    ["a field", "{ mee { id } }", {}],
    ["a field of a type", "{ plans { items { nam } } }", {}],
    ["an argument", "{ plans(limt: 1) { nextCursor } }", {}],
    ["an argument that is missing", "{ subscription { id } }", {}],
    ["a type", "query ($a: Localee) { __typename }", {}],
    ["a value", "mutation { setLocale(locale: DEE) { id } }", {}],
    ["a value in a variable", "mutation ($l: Locale!) { setLocale(locale: $l) { id } }", { l: "DEE" }],
    [
      "a field in a variable",
      "mutation ($p: PreferencesInput) { updateProfile(preferences: $p) { id } }",
      { p: { them: "DARK" } },
    ],
  ])("suggests no names when disabled: %s", async (_name, query, variables) => {
    const app = await graphqlApp(test.database, { introspection: false });
    const { body } = await queryGraphql(app.url, query, { variables });
    expect(body.errors.length).toBeGreaterThan(0);
    expect(JSON.stringify(body)).not.toContain("Did you mean");
    await app.close();
  });

  it.each([
    [{}, true],
    [{ NODE_ENV: "production", EMBEDDED_IN_PRODUCTION: "on" }, false],
    [{ NODE_ENV: "production", EMBEDDED_IN_PRODUCTION: "on", GRAPHQL_INTROSPECTION: "on" }, true],
    [{ GRAPHQL_INTROSPECTION: "off" }, false],
  ])("is off in production by default: %j", (variables, introspection) => {
    expect(readConfig(variables).graphql).toEqual({ enabled: true, introspection });
    expect(readConfig({ ...variables, GRAPHQL: "off" }).graphql.enabled).toBe(false);
  });

  it("always answers __typename", async () => {
    const app = await graphqlApp(test.database, { introspection: false });
    expect((await queryGraphql(app.url, "{ __typename }")).body).toEqual({ data: { __typename: "Query" } });
    await app.close();
  });
});

it("returns 404 when GRAPHQL is off", async () => {
  const app = await graphqlApp(test.database, { enabled: false });
  for (const method of ["GET", "POST"]) {
    const response = await sendRequest(app.url, method, "/api/graphql?query=%7B__typename%7D");
    expect(response.status).toBe(404);
    expect(response.body).toEqual({ error: "Not found" });
  }
  await app.close();
});
