import type { Charge } from "../limits/charge.ts";

/**
 * What an answer says of the limits that its call was charged to: the lowest remainder, the fields of
 * draft-ietf-httpapi-ratelimit-headers (since revision 09), and, when one refused, when to come back.
 * @param now milliseconds since the epoch
 */
export function limitHeaders(charges: readonly Charge[], now: number): Record<string, string> {
  if (charges.length === 0) return {};
  // `resetAt` is rounded up to a whole one: else a window would seem to last a second longer than it does.
  const whole = Math.ceil(now);
  let remaining = Number.POSITIVE_INFINITY;
  let retryAfter = 0;
  let limits = "";
  let policies = "";
  for (const charge of charges) {
    const secondsLeft = Math.max(0, Math.ceil((charge.resetAt - whole) / 1000));
    if (charge.remaining < remaining) remaining = charge.remaining;
    if (!charge.allowed) retryAfter = Math.max(1, retryAfter, secondsLeft);
    if (!tells(charge, charges)) continue;
    const separator = limits === "" ? "" : ", ";
    limits += `${separator}"${charge.scope}";r=${charge.remaining};t=${secondsLeft}`;
    policies += `${separator}"${charge.scope}";q=${charge.limit};w=${charge.windowSeconds}`;
  }
  const headers: Record<string, string> = {
    "x-ratelimit-remaining": `${remaining}`,
    ratelimit: limits,
    "ratelimit-policy": policies,
  };
  if (retryAfter > 0) headers["retry-after"] = `${retryAfter}`;
  return headers;
}

/** A batch is charged to one scope several times: what is left by the last is what is left. */
function tells(charge: Charge, charges: readonly Charge[]): boolean {
  return charges.length === 1 || charges.findLast(({ scope }) => scope === charge.scope) === charge;
}
