import { createHash } from "node:crypto";
import { RANDOM_TEXT_PATTERN, randomText } from "../random-text.ts";

/** A user's key acts as its owner, a service key for the users that it names. */
const KEY_PREFIXES = { user: "tg_", service: "tgs_" } as const;

type KeyKind = keyof typeof KEY_PREFIXES;

/** Stored and shown in the clear: enough to tell keys apart, far too little to guess the rest. */
const SHOWN_RANDOM_LENGTH = 8;

const KEY = new RegExp(`^(tgs?_)${RANDOM_TEXT_PATTERN}$`);

/** What is stored of a key; `hash` is the SHA-256 of the whole key. */
export type StoredKey = { prefix: string; hash: Buffer };

export type ParsedKey = StoredKey & { kind: KeyKind };

/** A new key. Shown once; only prefix and hash are stored. */
function newKey(kind: KeyKind): StoredKey & { key: string } {
  const key = KEY_PREFIXES[kind] + randomText();
  return { key, ...toStoredKey(key, KEY_PREFIXES[kind]) };
}

export function newApiKey(): StoredKey & { key: string } {
  return newKey("user");
}

export function newServiceKey(): StoredKey & { key: string } {
  return newKey("service");
}

/** Kind, prefix and hash of a presented key; `null` for text that cannot be one. */
export function parseApiKey(text: string): ParsedKey | null {
  const [, start] = KEY.exec(text) ?? [];
  if (start === undefined) return null;
  return { kind: start === KEY_PREFIXES.user ? "user" : "service", ...toStoredKey(text, start) };
}

function toStoredKey(key: string, start: string): StoredKey {
  return {
    prefix: key.slice(0, start.length + SHOWN_RANDOM_LENGTH),
    hash: createHash("sha256").update(key).digest(),
  };
}
