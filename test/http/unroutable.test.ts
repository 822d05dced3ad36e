import { expect, it } from "vitest";
import { freshServer } from "../support/fresh-server.ts";
import { openRawConnection } from "../support/raw-connection.ts";

const { server } = freshServer();

const CLOSED = "connection: close\r\n\r\n";

it.each([
  ["an invalid Host", 400, `GET /api/plans HTTP/1.1\r\nhost: a b\r\n${CLOSED}`],
  ["no Host", 400, `GET /api/plans HTTP/1.1\r\n${CLOSED}`],
  ["a page without a Host", 400, `GET /sign-in HTTP/1.1\r\n${CLOSED}`],
  ["an unknown expectation", 417, `GET /api/plans HTTP/1.1\r\nhost: b\r\nexpect: a reply\r\n${CLOSED}`],
  ["a target with user info", 400, `GET http://a@b/api/plans HTTP/1.1\r\nhost: b\r\n${CLOSED}`],
  ["no HTTP at all", 400, "What is the time?\r\n\r\n"],
])("answers %s with the current version and an error of the API's shape", async (_, status, request) => {
  const [head = "", body = ""] = (await openRawConnection(server.url, request).closed).split("\r\n\r\n");
  expect(head.slice(0, 13)).toBe(`HTTP/1.1 ${status} `);
  expect(head).toMatch(/^x-api-version: v1\r?$/im);
  expect(head).toMatch(/^x-request-id: [0-9a-f-]{36}\r?$/im);
  expect(JSON.parse(/\{.*\}/.exec(body)?.[0] ?? "")).toEqual({ error: expect.any(String) });
});
