import { createHash, randomInt } from "node:crypto";

const KEY_PREFIX = "tg_";
const RANDOM_LENGTH = 40;
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Stored and shown in the clear: enough to tell keys apart, far too little to guess the rest. */
const PREFIX_LENGTH = KEY_PREFIX.length + 8;

const KEY = new RegExp(`^${KEY_PREFIX}[A-Za-z0-9]{${RANDOM_LENGTH}}$`);

/** What is stored of a key; `hash` is the SHA-256 of the whole key. */
export type ParsedKey = { prefix: string; hash: Buffer };

/** A new key, of 238 random bits. Shown to its owner once; only prefix and hash are stored. */
export function newApiKey(): ParsedKey & { key: string } {
  let key = KEY_PREFIX;
  // One at a time, as `randomInt` is unbiased and a byte modulo 62 is not.
  for (let n = 0; n < RANDOM_LENGTH; n += 1) key += ALPHABET[randomInt(ALPHABET.length)];
  return { key, ...parsedKey(key) };
}

/** Prefix and hash of a presented key; `null` for text that cannot be one. */
export function parseApiKey(text: string): ParsedKey | null {
  return KEY.test(text) ? parsedKey(text) : null;
}

function parsedKey(key: string): ParsedKey {
  return { prefix: key.slice(0, PREFIX_LENGTH), hash: createHash("sha256").update(key).digest() };
}
