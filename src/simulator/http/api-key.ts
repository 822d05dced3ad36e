import { hash, timingSafeEqual } from "node:crypto";

/** The key that a request presents as its bearer; `null`: none. */
export function bearerKey(header: string | undefined): string | null {
  return /^bearer (.+)$/i.exec(header ?? "")?.[1] ?? null;
}

export function isSameKey(given: string, expected: string): boolean {
  const [one, other] = [given, expected].map((text) => hash("sha256", text, "buffer")) as [Buffer, Buffer];
  return timingSafeEqual(one, other);
}
