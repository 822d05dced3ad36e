import { errorText } from "../domain/error-text.ts";
import { concernsWholeSlot, isPaymentApiProblem } from "../domain/providers/payment-api-problem.ts";
import type { Slot } from "../domain/slot.ts";
import type { Intake } from "../intake/intake.ts";
import { DatabaseUnavailable } from "../store/database.ts";

export type Compared = { provider: Slot } & (
  | { providerSubscriptionId: string | null }
  | { providerPaymentId: string }
);

/**
 * Logs an error that concerns one subscription or payment alone, as that of a plugin's hook, a lock or an unreadable
 * state, and returns what it says: the others can still be compared.
 * @throws one that concerns all: the provider or the database does not respond, or the key is refused
 */
export function notCorrected({ log }: Pick<Intake, "log">, compared: Compared, error: unknown): string {
  if ((isPaymentApiProblem(error) && concernsWholeSlot(error)) || error instanceof DatabaseUnavailable)
    throw error;
  const { provider: slot } = compared;
  if ("providerPaymentId" in compared) {
    const { providerPaymentId } = compared;
    log.error({ err: error, slot, providerPaymentId }, "a payment could not be corrected");
  } else {
    const { providerSubscriptionId } = compared;
    log.error({ err: error, slot, providerSubscriptionId }, "a subscription could not be corrected");
  }
  return errorText(error);
}
