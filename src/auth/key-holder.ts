import { timingSafeEqual } from "node:crypto";
import type { Person } from "../domain/caller.ts";
import { refuse } from "../domain/refusal.ts";
import { type FoundKey, findApiKeys } from "../store/api-keys.ts";
import type { Queryable } from "../store/database.ts";
import { parseApiKey } from "./api-key.ts";
import { gathered } from "./gather.ts";
import type { KeyUsage } from "./key-usage.ts";

export type KeyHolder = (presented: string | null, address: string, now: number) => Promise<Person>;

/**
 * Whom an API key represents, found by its prefix.
 * @throws Refusal `unauthorized`: unknown, expired, revoked and a banned owner's are not told apart
 */
export function keyHolder(database: Queryable, usage: KeyUsage, maxInFlight: number): KeyHolder {
  const keysThatBegin = gathered(maxInFlight, async (prefixes) =>
    Map.groupBy(await findApiKeys(database, prefixes), (key) => key.prefix),
  );

  return async (presented, address, now) => {
    const parsed = presented === null ? null : parseApiKey(presented);
    const candidates = parsed ? await keysThatBegin(parsed.prefix) : undefined;
    const key = candidates?.find(({ hash }) => timingSafeEqual(hash, parsed?.hash as Buffer));
    if (!key || !isInForce(key, now)) return refuse("unauthorized", "Unauthorized");
    usage.note(key, now);
    return { kind: "api-key", userId: key.userId, role: key.role, keyId: key.id, address };
  };
}

function isInForce(key: FoundKey, now: number): boolean {
  return !key.isBanned && (key.expiresAt === null || key.expiresAt > now);
}
