import { timingSafeEqual } from "node:crypto";
import type { Person } from "../domain/caller.ts";
import { refuse } from "../domain/refusal.ts";
import { type FoundKey, findApiKeys } from "../store/api-keys.ts";
import type { Queryable } from "../store/database.ts";
import { parseApiKey } from "./api-key.ts";
import { batchLookups } from "./batch-lookups.ts";
import type { KeyUsage } from "./key-usage.ts";

export type AuthenticateApiKey = (presented: string | null, address: string, now: number) => Promise<Person>;

/**
 * Finds an API key by its prefix, and the user it acts for.
 * @throws Refusal `unauthorized`: the same for unknown, expired and revoked keys and those of a banned owner
 */
export function authenticateApiKey(
  database: Queryable,
  usage: KeyUsage,
  maxInFlight: number,
): AuthenticateApiKey {
  const keysByPrefix = batchLookups(maxInFlight, async (prefixes) =>
    Map.groupBy(await findApiKeys(database, prefixes), (key) => key.prefix),
  );

  return async (presented, address, now) => {
    const parsed = presented === null ? null : parseApiKey(presented);
    const candidates = parsed ? await keysByPrefix(parsed.prefix) : undefined;
    const key = candidates?.find(({ hash }) => timingSafeEqual(hash, parsed?.hash as Buffer));
    if (!key || !isValid(key, now)) return refuse({ reason: "unauthorized" });
    usage.record(key, now);
    return { kind: "api-key", userId: key.userId, role: key.role, keyId: key.id, address };
  };
}

function isValid(key: FoundKey, now: number): boolean {
  return !key.isBanned && (key.expiresAt === null || key.expiresAt > now);
}
