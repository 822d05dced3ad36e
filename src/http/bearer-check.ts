import { createHash, timingSafeEqual } from "node:crypto";

/** Compares the token of an `Authorization` header with another in constant time; the scheme in any case. */
export function bearerCheck(token: string): (header: string | undefined) => boolean {
  const expected = digest(token);
  return (header) => {
    const presented = /^bearer +(.*)$/i.exec(header ?? "")?.[1];
    return presented !== undefined && timingSafeEqual(digest(presented), expected);
  };
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
