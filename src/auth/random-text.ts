import { randomInt } from "node:crypto";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

const LENGTH = 40;

/** Matches what `randomText` returns. */
export const RANDOM_TEXT_PATTERN = `[A-Za-z0-9]{${LENGTH}}`;

/** Letters and digits, of 238 random bits. Each is chosen by `randomInt`, which is unbiased; a byte modulo 62 is not. */
export function randomText(): string {
  let text = "";
  for (let n = 0; n < LENGTH; n += 1) text += ALPHABET[randomInt(ALPHABET.length)];
  return text;
}
