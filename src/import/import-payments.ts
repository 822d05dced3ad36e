import type { PaymentApi } from "../domain/providers/payment-api.ts";
import type { Slot } from "../domain/slot.ts";
import type { Intake } from "../intake/intake.ts";
import { comparePayments } from "../reconcile/compare-payments.ts";
import { notCorrected } from "../reconcile/not-corrected.ts";
import { DatabaseUnavailable, isTimeout } from "../store/database.ts";
import type { Unmatched } from "./run-import.ts";

/**
 * Records what has been paid for a slot's subscriptions. One that cannot be recorded is left out, with the reason.
 * @throws PaymentApiProblem, DatabaseUnavailable
 */
export async function importPayments(
  intake: Intake,
  { slot, api }: { slot: Slot; api: PaymentApi },
  { notify }: { notify: boolean },
): Promise<{ recorded: number; unmatched: Unmatched[] }> {
  const unmatched: Unmatched[] = [];
  // Stripe lists refunds and disputes once for all payments, else for each one.
  const recorded = await comparePayments(intake, slot, api, {
    since: null,
    dryRun: false,
    by: "server",
    notify,
    failed: (providerPaymentId, error) => {
      // Not the payment's fault: another run records it.
      if (isTimeout(error))
        throw new DatabaseUnavailable("a lock or the database was too slow", { cause: error });
      const reason = notCorrected(intake, { provider: slot, providerPaymentId }, error);
      unmatched.push({ providerPaymentId, reason });
    },
    isStopping: () => false,
  });
  return { recorded, unmatched };
}
