import { afterAll, beforeAll } from "vitest";
import { freshDatabase, type TestDatabase } from "./database.ts";

/** `users`: how many the database has, `user_0` and up. `variables`: the environment of the server. */
export type FreshOptions = { users?: number; variables?: Record<string, string> };

/**
 * A migrated database for the tests of one file or `describe`. Ready in the hooks and tests that follow, not
 * before.
 * @param users how many users it has: `user_0` and up
 */
export function testDatabase(users = 20): TestDatabase {
  const test = {} as TestDatabase;
  beforeAll(async () => {
    Object.assign(test, await freshDatabase(users));
  });
  afterAll(() => test.drop?.());
  return test;
}
