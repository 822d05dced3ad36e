import { expect, it } from "vitest";
import { freshServer } from "../support/fresh-server.ts";
import { sendRequest } from "../support/http.ts";

const APP_URL = "https://app.example.com";

const { server } = freshServer({ variables: { APP_URL } });

const SUCCESSOR = (path: string) => `<${APP_URL}${path}>; rel="successor-version"`;

it.each([
  ["a current version by default", "GET", "/api/plans", {}, 200, "v1", "X-API-Version", "/api/v2/plans"],
  ["a version in the path", "GET", "/api/v1/plans", {}, 200, "v1", null, "/api/v2/plans"],
  ["the newest version in the path", "GET", "/api/v2/plans", {}, 200, "v2", null, null],
  [
    "a version in the header",
    "GET",
    "/api/plans",
    { "x-api-version": "v2" },
    200,
    "v2",
    "X-API-Version",
    null,
  ],
  [
    "both: the path decides",
    "GET",
    "/api/v1/plans",
    { "x-api-version": "v2" },
    200,
    "v1",
    null,
    "/api/v2/plans",
  ],
  ["a refused request", "GET", "/api/v1/users/me", {}, 401, "v1", null, "/api/v2/users/me"],
  ["a refused webhook", "POST", "/api/v2/webhooks/provider-a", {}, 400, "v2", null, null],
  ["an unknown route", "GET", "/api/v2/nothing", {}, 404, "v2", null, null],
])("sets the headers of the resolved version for %s", async (...row) => {
  const [, method, path, headers, status, version, vary, successor] = row;
  const response = await sendRequest(server.url, method, path, { headers: { ...headers } });
  expect({
    status: response.status,
    version: response.headers.get("x-api-version"),
    vary: /x-api-version/i.exec(response.headers.get("vary") ?? "")?.[0] ?? null,
    link: response.headers.get("link"),
    // Neither version is deprecated.
    deprecation: response.headers.get("deprecation"),
    sunset: response.headers.get("sunset"),
  }).toEqual({
    status,
    version,
    vary,
    deprecation: null,
    sunset: null,
    link: successor === null ? null : SUCCESSOR(successor),
  });
});

it("reports the same versions at /api/version", async () => {
  const { body } = await sendRequest(server.url, "GET", "/api/version");
  expect(body).toEqual({
    current: "v1",
    supported: ["v1", "v2"],
    versions: { v1: { deprecated: false }, v2: { deprecated: false } },
  });
});

it.each([
  [
    "an unknown version in the path",
    "/api/v9",
    {},
    404,
    "Not found: expected /api/<version>/",
    "unknown_version",
  ],
  [
    "a malformed version in the path",
    "/api/V2",
    {},
    404,
    "Not found: expected /api/<version>/",
    "unknown_version",
  ],
  [
    "an unknown version in the header",
    "/api",
    { "x-api-version": "v9" },
    400,
    "X-API-Version: expected one of",
    "invalid_input",
  ],
])("refuses %s in each surface's error format", async (...row) => {
  const [, prefix, headers, status, message, reason] = row;
  const sentence = expect.stringContaining(message);
  const surfaces: [string, object][] = [
    ["/version", { error: sentence }],
    ["/auth/get-session", { error: sentence, message: sentence, code: expect.any(String) }],
    ["/trpc/user.me", { error: { json: { message: sentence, data: { httpStatus: status, reason } } } }],
    ["/graphql?query=%7B__typename%7D", { errors: [{ message: sentence, extensions: { reason } }] }],
  ];
  for (const [path, shape] of surfaces) {
    const response = await sendRequest(server.url, "GET", `${prefix}${path}`, { headers: { ...headers } });
    expect(response.headers.get("x-api-version")).toBe("v1");
    expect(response, path).toMatchObject({ status, body: shape });
  }
  const accept = "application/graphql-response+json";
  const { fields } = await sendRequest(server.url, "GET", `${prefix}/graphql`, {
    headers: { ...headers, accept },
  });
  expect(fields["content-type"]).toBe(`${accept}; charset=utf-8`);
});
