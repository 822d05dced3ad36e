import { afterEach, beforeEach, expect, it, vi } from "vitest";

const UUID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;
const errors = vi.spyOn(console, "error").mockImplementation(() => {});

/** Whose types are those of pages, which are checked apart. */
const load = (path: string) => import(path);

beforeEach(() => {
  vi.stubEnv("TOLLGATE_TARGET", "serverless");
  // Required there: without it no instance starts.
  vi.stubEnv("DATABASE_URL", undefined);
});

afterEach(() => {
  vi.unstubAllEnvs();
  errors.mockClear();
});

function expectNotStarted({ status, headers }: Response): void {
  expect(status).toBe(503);
  expect(headers.get("retry-after")).toMatch(/^\d+$/);
  expect(headers.get("cache-control")).toBe("no-store");
  const requestId = headers.get("x-request-id");
  expect(requestId).toMatch(UUID);
  expect(errors.mock.calls).toEqual([[expect.stringMatching(/^DATABASE_URL: required .*\(request /)]]);
  expect(errors.mock.calls[0]?.[0]).toContain(requestId);
}

it("answers the API with 503 and the request's id while an instance cannot start", async () => {
  const { GET } = await load("../../src/app/api/[[...path]]/route.ts");
  const response = await GET(new Request("http://localhost/api/health"));
  expectNotStarted(response);
  expect(response.headers.get("x-api-version")).toBe("v1");
  expect(await response.json()).toEqual({ error: "Service unavailable" });
});

it("answers pages with 503 and the request's id while an instance cannot start", async () => {
  const { proxy } = await load("../../src/proxy.serverless.ts");
  const { NextRequest } = await load("next/server");
  const response = await proxy(new NextRequest("http://localhost/settings"));
  expectNotStarted(response);
  expect(await response.text()).toBe("Service unavailable\n");
});
