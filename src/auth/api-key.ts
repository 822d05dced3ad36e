import { createHash, randomInt } from "node:crypto";

const START = "tg_";
const RANDOM_LENGTH = 40;
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** So much of a key is kept and shown: enough to tell keys apart, far too little to guess the rest. */
const PREFIX_LENGTH = START.length + 8;

const KEY = new RegExp(`^${START}[A-Za-z0-9]{${RANDOM_LENGTH}}$`);

/** What is kept of a key; `hash` is the SHA-256 of all of it. */
export type ParsedKey = { prefix: string; hash: Buffer };

/** A new key, of 238 random bits. It is shown to its owner once; only prefix and hash are kept. */
export function newApiKey(): ParsedKey & { key: string } {
  let key = START;
  // One at a time, as `randomInt` is unbiased and a byte modulo 62 is not.
  for (let n = 0; n < RANDOM_LENGTH; n += 1) key += ALPHABET[randomInt(ALPHABET.length)];
  return { key, ...kept(key) };
}

/** What would be kept of this key; `null` for what cannot be one. */
export function parseApiKey(text: string): ParsedKey | null {
  return KEY.test(text) ? kept(text) : null;
}

function kept(key: string): ParsedKey {
  return { prefix: key.slice(0, PREFIX_LENGTH), hash: createHash("sha256").update(key).digest() };
}
