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

/** Marks requests passed to Next.js, so that its own fetches carry the mark too. */
export function markAsOwn({ headers }: IncomingMessage): void {
  headers[SELF_HEADER] = SELF;
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
  if (!isOwn(incoming)) await charge("pages", limits, { caller: { kind: "anonymous", address }, charges });
}

function isOwn({ headers }: IncomingMessage): boolean {
  const actual = Buffer.from(String(headers[SELF_HEADER] ?? ""));
  const expected = Buffer.from(SELF);
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}
