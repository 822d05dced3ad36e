import { randomInt } from "node:crypto";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Letters and digits. Each is chosen by `randomInt`, which is unbiased; a byte modulo 62 is not. */
export function randomText(length: number): string {
  let text = "";
  for (let n = 0; n < length; n += 1) text += ALPHABET[randomInt(ALPHABET.length)];
  return text;
}
