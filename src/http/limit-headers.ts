import type { Context } from "hono";
import { type LimitCharge, retryAfterSeconds, secondsUntilReset } from "../limits/charge.ts";
import { clockOffsetSeconds } from "../limits/clock.ts";

/**
 * Rate-limit headers of a response: the common `X-RateLimit-*` fields for the limit with the lowest
 * remainder, draft-ietf-httpapi-ratelimit-headers (since revision 09) for each, and `Retry-After` after a
 * refusal.
 */
export function limitHeaders(charges: readonly LimitCharge[]): Record<string, string> {
  let lowest = charges[0];
  if (lowest === undefined) return {};
  let retryAfter = 0;
  let limits = "";
  let policies = "";
  for (const charge of charges) {
    if (charge.remaining < lowest.remaining) lowest = charge;
    if (!charge.allowed) retryAfter = Math.max(retryAfter, retryAfterSeconds(charge));
    if (!isLastOfScope(charge, charges)) continue;
    const separator = limits === "" ? "" : ", ";
    limits += `${separator}"${charge.scope}";r=${charge.remaining};t=${secondsUntilReset(charge)}`;
    policies += `${separator}"${charge.scope}";q=${charge.limit};w=${charge.windowSeconds}`;
  }
  const headers: Record<string, string> = {
    "x-ratelimit-limit": `${lowest.limit}`,
    "x-ratelimit-remaining": `${lowest.remaining}`,
    "x-ratelimit-reset": `${Math.ceil(lowest.resetAt / 1000) + clockOffsetSeconds()}`,
    ratelimit: limits,
    "ratelimit-policy": policies,
  };
  if (retryAfter > 0) headers["retry-after"] = `${retryAfter}`;
  return headers;
}

/** Adds them to the response that the context makes. */
export function addLimitHeaders(c: Context, charges: readonly LimitCharge[]): void {
  for (const [name, value] of Object.entries(limitHeaders(charges))) c.header(name, value);
}

/** A batch is charged to one scope several times: the last charge has the remainder. */
function isLastOfScope(charge: LimitCharge, charges: readonly LimitCharge[]): boolean {
  return charges.length === 1 || charges.findLast(({ scope }) => scope === charge.scope) === charge;
}
