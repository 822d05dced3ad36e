import { afterAll, beforeAll } from "vitest";
import type { TestDatabase } from "./database.ts";
import { startTestServer, type TestServer } from "./server.ts";
import { type FreshOptions, testDatabase } from "./test-database.ts";
import { GENEROUS_LIMITS } from "./variables.ts";

/**
 * A server on a database of its own, for the tests of one file or `describe`, with limits that no test
 * reaches by accident. Ready in the hooks and tests that follow, not before.
 */
export function freshServer({ users = 0, variables = {} }: FreshOptions = {}): {
  test: TestDatabase;
  server: TestServer;
} {
  const test = testDatabase(users);
  const server = {} as TestServer;
  beforeAll(async () => {
    Object.assign(server, await startTestServer(test.url, { ...GENEROUS_LIMITS, ...variables }));
  });
  afterAll(() => server.close?.());
  return { test, server };
}
