import { createHash } from "node:crypto";
import type { Queryable } from "../database.ts";

const FIND = {
  name: "find_pending_sign_in",
  text: `select value as "userId" from verification where identifier = $1`,
};

/**
 * The user whose sign-in waits for its second factor; `null`: it has ended.
 * @param identifier which Better Auth stores hashed
 */
export async function findPendingSignIn(database: Queryable, identifier: string): Promise<string | null> {
  const hash = createHash("sha256").update(identifier).digest("base64url");
  const [row] = await database.run<{ userId: string }>(FIND, [hash]);
  return row?.userId ?? null;
}
