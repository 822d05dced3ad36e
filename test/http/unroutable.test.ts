import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { createUnroutable } from "../../src/http/unroutable.ts";
import { createLog } from "../../src/observability/log.ts";
import { freshServer } from "../support/fresh-server.ts";
import { openRawConnection } from "../support/raw-connection.ts";

const { server } = freshServer();

const CLOSED = "connection: close\r\n\r\n";

it.each([
  ["an invalid Host", 400, `GET /api/plans HTTP/1.1\r\nhost: a b\r\n${CLOSED}`],
  ["no Host", 400, `GET /api/plans HTTP/1.1\r\n${CLOSED}`],
  ["two Hosts", 400, `GET /api/plans HTTP/1.1\r\nhost: b\r\nHost: c\r\n${CLOSED}`],
  [
    "a webhook with two Hosts",
    400,
    `POST /api/webhooks/provider-a HTTP/1.1\r\nhost: b\r\nhost: b\r\ncontent-length: 0\r\n${CLOSED}`,
  ],
  ["a page without a Host", 400, `GET /sign-in HTTP/1.1\r\n${CLOSED}`],
  ["an unknown expectation", 417, `GET /api/plans HTTP/1.1\r\nhost: b\r\nexpect: a reply\r\n${CLOSED}`],
  ["a target with user info", 400, `GET http://a@b/api/plans HTTP/1.1\r\nhost: b\r\n${CLOSED}`],
  ["no HTTP at all", 400, "What is the time?\r\n\r\n"],
  ["headers that are too large", 431, `GET / HTTP/1.1\r\nhost: b\r\nx: ${"x".repeat(20_000)}\r\n${CLOSED}`],
])("answers %s with the current version and an error of the API's shape", async (_, status, request) => {
  const [head = "", body = ""] = (await openRawConnection(server.url, request).closed).split("\r\n\r\n");
  expect(head.slice(0, 13)).toBe(`HTTP/1.1 ${status} `);
  expect(head).toMatch(/^x-api-version: v1\r?$/im);
  expect(head).toMatch(/^x-request-id: [0-9a-f-]{36}\r?$/im);
  // Not "Invalid signature": no handler has seen it.
  const error = expect.stringMatching(/^(Bad request|Expectation failed|Request Header)/i);
  expect(JSON.parse(/\{.*\}/.exec(body)?.[0] ?? "")).toEqual({ error });
});

it("serves HTTP/1.0, which needs no Host, to the checks of load balancers", async () => {
  const request = "GET /api/health HTTP/1.0\r\n\r\n";
  expect(await openRawConnection(server.url, request).closed).toMatch(/^HTTP\/1\.1 200 /);
});

it("answers a request that does not arrive in time, and closes the connection", async () => {
  const socket = new PassThrough();
  const late = Object.assign(new Error("Request timeout"), { code: "ERR_HTTP_REQUEST_TIMEOUT" });
  createUnroutable([["x-api-version", "v1"]], createLog("silent")).refuseSocket(late, socket);
  const [head = "", body = ""] = (await text(socket)).split("\r\n\r\n");
  expect(head).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
  expect(head).toMatch(new RegExp(`^content-length: ${body.length}\r?$`, "m"));
  expect(head).toMatch(/^connection: close\r?$/m);
  expect(JSON.parse(body)).toEqual({ error: "Request Timeout" });
});

it("writes nothing to a connection that the client has reset or that is closing", () => {
  const { refuseSocket } = createUnroutable([["x-api-version", "v1"]], createLog("silent"));
  const reset = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
  const [open, closing] = [new PassThrough(), new PassThrough()];
  closing.end();
  refuseSocket(reset, open);
  refuseSocket(new Error("Parse Error"), closing);
  for (const socket of [open, closing]) expect([socket.destroyed, socket.readableLength]).toEqual([true, 0]);
});
