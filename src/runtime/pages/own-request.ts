import { randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

/**
 * Next.js fetches the page that an action redirects to from this server, with the headers of the original
 * request.
 */
const SELF_HEADER = "x-tollgate-self";
const SELF = randomBytes(24).toString("base64url");

/** Marks a request passed to Next.js, so that its own fetches carry the client's address too. */
export function markAsOwn({ headers }: IncomingMessage, address: string): void {
  headers[SELF_HEADER] = `${SELF} ${address}`;
}

/**
 * The client's address of a page that Next.js fetches; `null`: of another request. Next.js also adds an
 * `X-Forwarded-For` of its own, which is no sign of a proxy.
 */
export function addressOfOwn({ headers }: IncomingMessage): string | null {
  const [mark = "", address = null] = String(headers[SELF_HEADER] ?? "").split(" ");
  const actual = Buffer.from(mark);
  const expected = Buffer.from(SELF);
  return actual.length === expected.length && timingSafeEqual(actual, expected) ? address : null;
}
