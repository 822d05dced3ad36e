import type { Intake } from "../../intake/intake.ts";
import { type RetryReport, retryDue } from "../../intake/retry.ts";

/** One pass of `webhook-retry`: what is due now, and what a process has left behind. Tells how many ended how. */
export function retryDeliveries(deps: { intake: Intake }): Promise<RetryReport> {
  return retryDue(deps.intake);
}
