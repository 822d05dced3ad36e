import { isPaymentApiProblem } from "../domain/payment-api-problem.ts";
import type { Intake } from "../intake/intake.ts";
import { DatabaseUnavailable } from "../store/database.ts";
import type { ReconcilableSubscription } from "../store/reconciliations.ts";

/**
 * Logs an error that concerns one subscription alone, as that of a plugin's hook, a lock or an unreadable state,
 * and returns what it says: the others can still be compared.
 * @throws one of the provider or the database, which concerns all
 */
export function notCorrected(
  { log }: Pick<Intake, "log">,
  {
    provider: slot,
    providerSubscriptionId,
  }: Pick<ReconcilableSubscription, "provider" | "providerSubscriptionId">,
  error: unknown,
): string {
  const isUnreadable = isPaymentApiProblem(error) && error.failure === "unreadable";
  if ((isPaymentApiProblem(error) && !isUnreadable) || error instanceof DatabaseUnavailable) throw error;
  log.error({ err: error, slot, providerSubscriptionId }, "a subscription could not be corrected");
  return error instanceof Error ? error.message : String(error);
}
