import { timingSafeEqual } from "node:crypto";
import type { ServiceKey } from "../../domain/callers/caller.ts";
import { batchLookups } from "../../store/batch-lookups.ts";
import type { Queryable } from "../../store/database.ts";
import { findServiceKeys } from "../../store/keys/service-keys.ts";
import type { StoredKey } from "./api-key.ts";
import type { KeyUsage } from "./key-usage.ts";

/** `null`: unknown, expired, revoked, or replaced by a rotation some time ago. */
export type AuthenticateServiceKey = (
  presented: StoredKey,
  address: string,
  now: number,
) => Promise<ServiceKey | null>;

/** Finds a service key by the prefix of one of its secrets. */
export function authenticateServiceKey(database: Queryable, usage: KeyUsage): AuthenticateServiceKey {
  const keysByPrefix = batchLookups(async (prefixes) =>
    Map.groupBy(await findServiceKeys(database, prefixes), (key) => key.prefix),
  );
  return async ({ prefix, hash }, address, now) => {
    const key = (await keysByPrefix(prefix))?.find((candidate) => timingSafeEqual(candidate.hash, hash));
    if (!key || (key.validUntil !== null && key.validUntil <= now)) return null;
    usage.record(key, now);
    const { id, permissions, limit, windowSeconds } = key;
    return { kind: "service", keyId: id, permissions, limit: { limit, windowSeconds }, address };
  };
}
