import { hash, timingSafeEqual } from "node:crypto";

/** The bearer key of a request; `null`: none. */
export function bearerKey(header: string | undefined): string | null {
  return /^bearer (.+)$/i.exec(header ?? "")?.[1] ?? null;
}

export function isSameKey(presented: string, expected: string): boolean {
  const [a, b] = [presented, expected].map((text) => hash("sha256", text, "buffer")) as [Buffer, Buffer];
  return timingSafeEqual(a, b);
}
