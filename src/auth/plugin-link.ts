import { createHash } from "node:crypto";
import type { Person } from "../domain/callers/caller.ts";
import type { Queryable } from "../store/database.ts";
import { findLinkOwner } from "../store/keys/plugin-links.ts";
import { RANDOM_TEXT_PATTERN, randomText } from "./random-text.ts";

const PREFIX = "tgl_";
const SECRET = new RegExp(`^${PREFIX}${RANDOM_TEXT_PATTERN}$`);

/** A new secret for an address. Shown once; only its hash is stored. */
export function newLinkSecret(): { secret: string; hash: Buffer } {
  const secret = PREFIX + randomText();
  return { secret, hash: hashOf(secret) };
}

/** `null`: unknown, replaced or revoked. The caller is what an API key of the owner would be. */
export type AuthenticateLink = (
  plugin: string,
  secret: string,
  address: string,
) => Promise<(Person & { kind: "api-key" }) | null>;

export function authenticateLink(database: Queryable): AuthenticateLink {
  return async (plugin, secret, address) => {
    if (!SECRET.test(secret)) return null;
    const link = await findLinkOwner(database, { plugin, hash: hashOf(secret) });
    if (link === null) return null;
    const { id: keyId, userId, role } = link;
    return { kind: "api-key", keyId, userId, role, address };
  };
}

function hashOf(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}
