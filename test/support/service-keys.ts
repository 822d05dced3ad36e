import { randomUUID } from "node:crypto";
import { newServiceKey } from "../../src/auth/callers/api-key.ts";
import { PERMISSIONS, type Permission } from "../../src/domain/callers/permission.ts";
import { insertServiceKey } from "../../src/store/keys/service-keys.ts";
import type { TestDatabase } from "./database.ts";

/** A service key with these permissions, by default all. */
export async function createServiceKey(
  test: Pick<TestDatabase, "database">,
  options: {
    permissions?: readonly Permission[];
    limit?: number;
    windowSeconds?: number;
    expiresAt?: Date;
  } = {},
): Promise<{ id: string; key: string }> {
  const { permissions = PERMISSIONS, limit = 10_000, windowSeconds = 60, expiresAt = null } = options;
  const { key, ...secret } = newServiceKey();
  const id = randomUUID();
  const facts = { name: "shop", permissions, limit, windowSeconds, createdBy: null, expiresAt };
  await insertServiceKey(test.database, { id, ...facts, secret });
  return { id, key };
}
