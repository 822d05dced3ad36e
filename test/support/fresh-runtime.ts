import { afterAll, beforeAll } from "vitest";
import type { Runtime, RuntimeOptions } from "../../src/runtime/runtime.ts";
import type { TestDatabase } from "./database.ts";
import { startTestRuntime } from "./runtime.ts";
import { type FreshOptions, testDatabase } from "./test-database.ts";

/**
 * What a server does without HTTP, on a database of its own, for the tests of one file. Ready in the hooks and
 * tests that follow, not before.
 */
export function freshRuntime({
  users = 0,
  variables = {},
  ...options
}: FreshOptions & Partial<RuntimeOptions> = {}): { test: TestDatabase; runtime: Runtime } {
  const test = testDatabase(users);
  const runtime = {} as Runtime;
  beforeAll(async () => {
    Object.assign(runtime, await startTestRuntime(test.url, variables, options));
  });
  afterAll(() => runtime.close?.());
  return { test, runtime };
}
