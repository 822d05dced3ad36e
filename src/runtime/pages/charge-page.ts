import type { IncomingMessage } from "node:http";
import type { LimitCharge } from "../../limits/charge.ts";
import type { Limits } from "../../limits/rate-limit.ts";
import { charge } from "../../operations/call.ts";
import { addressOfOwn } from "./own-request.ts";

/**
 * Charges a page to the client's address.
 * @param charges gets the charge, refused or not
 * @throws Refusal
 */
export async function chargePage(
  incoming: IncomingMessage,
  { limits, address, charges }: { limits: Limits; address: string; charges: LimitCharge[] },
): Promise<void> {
  // The action has been charged already, and over loopback all users would share one address.
  if (addressOfOwn(incoming) === null)
    await charge("pages", limits, { caller: { kind: "anonymous", address }, charges });
}
