import { timingSafeEqual } from "node:crypto";
import type { Person } from "../../domain/callers/caller.ts";
import { batchLookups } from "../../store/batch-lookups.ts";
import type { Queryable } from "../../store/database.ts";
import { type FoundKey, findApiKeys } from "../../store/keys/api-keys.ts";
import type { StoredKey } from "./api-key.ts";
import type { KeyUsage } from "./key-usage.ts";

/** `null`: unknown, expired or revoked, or its owner is banned. */
export type AuthenticateApiKey = (
  presented: StoredKey,
  address: string,
  now: number,
) => Promise<Person | null>;

/** Finds an API key by its prefix, and the user it acts for. */
export function authenticateApiKey(database: Queryable, usage: KeyUsage): AuthenticateApiKey {
  const keysByPrefix = batchLookups(async (prefixes) =>
    Map.groupBy(await findApiKeys(database, prefixes), (key) => key.prefix),
  );

  return async ({ prefix, hash }, address, now) => {
    const key = (await keysByPrefix(prefix))?.find((candidate) => timingSafeEqual(candidate.hash, hash));
    if (!key || !isValid(key, now)) return null;
    usage.record(key, now);
    return { kind: "api-key", userId: key.userId, role: key.role, keyId: key.id, address };
  };
}

function isValid(key: FoundKey, now: number): boolean {
  return !key.isBanned && (key.expiresAt === null || key.expiresAt > now);
}
