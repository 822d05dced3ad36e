import { randomInt } from "node:crypto";

/** Without what looks alike on paper: 0 and o, 1, i and l, and capitals. */
const SYMBOLS = "abcdefghjkmnpqrstuvwxyz23456789";
const COUNT = 10;

/** Such as "k7pxm-3vnqe": 49 bits; the guess limit allows few tries. */
export function createBackupCodes(): string[] {
  return Array.from({ length: COUNT }, () => `${symbols(5)}-${symbols(5)}`);
}

function symbols(count: number): string {
  return Array.from({ length: count }, () => SYMBOLS[randomInt(SYMBOLS.length)]).join("");
}
