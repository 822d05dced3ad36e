import { checkLimit } from "./check-request.ts";
import { steadyNow } from "./clock.ts";
import { createRateLimit, type RateLimitOptions } from "./create-rate-limit.ts";
import { type Policies, SCOPES } from "./policies.ts";
import type { Limits } from "./rate-limit.ts";

export type LimitsOptions = RateLimitOptions & { policies: Policies };

/** The limiter with the policies in force. @throws RangeError when a policy is invalid */
export async function createLimits({
  policies,
  now = steadyNow,
  ...options
}: LimitsOptions): Promise<Limits & { close(): Promise<void> }> {
  for (const scope of SCOPES) checkLimit(policies[scope]);
  return { policies, now, ...(await createRateLimit({ ...options, now })) };
}
