import { createHash, timingSafeEqual } from "node:crypto";

/** Compares an `Authorization` header with a token in constant time. */
export function bearerCheck(token: string): (header: string | undefined) => boolean {
  const expected = digest(`Bearer ${token}`);
  return (header) => timingSafeEqual(digest(header ?? ""), expected);
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
