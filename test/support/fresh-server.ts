import { afterAll, beforeAll } from "vitest";
import { freshDatabase, type TestDatabase } from "./database.ts";
import { startTestServer, type TestServer } from "./server.ts";
import { GENEROUS_LIMITS } from "./variables.ts";

/**
 * A server on a database of its own, for the tests of one file or `describe`, with limits that no test
 * reaches by accident. Ready in the hooks and tests that follow, not before.
 * @param options.users how many users the database has: `user_0` and up
 */
export function freshServer({
  users = 0,
  variables = {},
}: {
  users?: number;
  variables?: Record<string, string>;
} = {}): { test: TestDatabase; server: TestServer } {
  const test = {} as TestDatabase;
  const server = {} as TestServer;
  beforeAll(async () => {
    Object.assign(test, await freshDatabase(users));
    Object.assign(server, await startTestServer(test.url, { ...GENEROUS_LIMITS, ...variables }));
  });
  afterAll(async () => {
    await server.close?.();
    await test.drop?.();
  });
  return { test, server };
}
