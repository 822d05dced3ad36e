import type { ChargedScope, Limit } from "./policies.ts";
import type { Decision } from "./rate-limit.ts";

/** One decision of the limiter, with the policy that it was counted under. */
export type Charge = Decision &
  Limit & {
    scope: ChargedScope;
    /** By the limiter's clock, milliseconds since the epoch. */
    decidedAt: number;
  };

/**
 * Whole seconds from the decision until the window resets. The one countdown: of headers, refusals and forms.
 */
export function secondsUntilReset({ resetAt, decidedAt }: Charge): number {
  return Math.max(0, Math.ceil((resetAt - Math.ceil(decidedAt)) / 1000));
}

/** `Retry-After` of a refused charge. */
export function retryAfterSeconds(charge: Charge): number {
  return Math.max(1, secondsUntilReset(charge));
}
