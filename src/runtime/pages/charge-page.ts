import { randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Charge } from "../../limits/charge.ts";
import type { Limits } from "../../limits/rate-limit.ts";
import { charge } from "../../operations/call.ts";

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

/**
 * Charges a page to the client's address.
 * @param charges gets the charge, refused or not
 * @throws Refusal
 */
export async function chargePage(
  incoming: IncomingMessage,
  { limits, address, charges }: { limits: Limits; address: string; charges: Charge[] },
): Promise<void> {
  // The action has been charged already, and over loopback all users would share one address.
  if (addressOfOwn(incoming) === null)
    await charge("pages", limits, { caller: { kind: "anonymous", address }, charges });
}
