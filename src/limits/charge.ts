import type { Limit, Scope } from "./policies.ts";
import type { Decision } from "./rate-limit.ts";

/** One decision of the limiter, with the policy that it was counted under. */
export type Charge = Decision & Limit & { scope: Scope };
