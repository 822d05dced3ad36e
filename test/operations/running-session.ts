import { randomUUID } from "node:crypto";
import type { Caller } from "../../src/domain/callers/caller.ts";
import type { TestDatabase } from "../support/database.ts";
import { session } from "./test-context.ts";

/** A caller whose session exists, for what must not be created once it has ended. */
export async function runningSession(test: Pick<TestDatabase, "rows">, userId: string): Promise<Caller> {
  const sessionId = randomUUID();
  await test.rows(
    "insert into session (id, user_id, token, expires_at) values ($1, $2, $1, now() + interval '1 day')",
    [sessionId, userId],
  );
  return { ...session(userId), sessionId } as Caller;
}
