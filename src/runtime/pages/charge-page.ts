import { randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Charge } from "../../limits/charge.ts";
import type { Limits } from "../../limits/rate-limit.ts";
import { charge } from "../../operations/operation.ts";

/** Next.js asks this server for the page that an action leads to, with the headers of the request that it answers. */
const SELF_HEADER = "x-tollgate-self";
const SELF = randomBytes(24).toString("base64url");

/** To be set on what is handed to Next.js. */
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
  // The person has been charged for the action; over loopback, all of them would share one address.
  if (!isOwn(incoming)) await charge("pages", limits, { caller: { kind: "anonymous", address }, charges });
}

function isOwn({ headers }: IncomingMessage): boolean {
  const given = Buffer.from(String(headers[SELF_HEADER] ?? ""));
  const expected = Buffer.from(SELF);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
