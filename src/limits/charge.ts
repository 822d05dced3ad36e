import type { ChargedScope, Limit } from "./policies.ts";
import type { RateLimitResult } from "./rate-limit.ts";

/** One decision of the limiter, with the policy that it was counted under. */
export type LimitCharge = RateLimitResult &
  Limit & {
    scope: ChargedScope;
    /** By the limiter's clock, milliseconds since the epoch. */
    decidedAt: number;
  };

/**
 * Whole seconds from the decision until the window resets. The one countdown: of headers, refusals and forms.
 */
export function secondsUntilReset({ resetAt, decidedAt }: LimitCharge): number {
  return Math.max(0, Math.ceil((resetAt - Math.ceil(decidedAt)) / 1000));
}

/** `Retry-After` of a refused charge. */
export function retryAfterSeconds(charge: LimitCharge): number {
  return Math.max(1, secondsUntilReset(charge));
}
