import { isPaymentApiProblem, type PaymentApi, type Payments } from "../domain/payment-api.ts";
import { refuse } from "../domain/refusal.ts";
import type { Slot } from "../domain/slot.ts";

/** Where the operator learns what a person has no use for. */
export type OperatorLog = { error(facts: object, message: string): void };

export type ProviderTools = {
  /** `null`: not configured. */
  payments: Payments;
  log: OperatorLog;
};

/** @throws Refusal `unavailable` when nothing is configured for the slot */
export function providerOf(payments: Payments, slot: Slot): PaymentApi {
  return payments[slot] ?? refuse({ reason: "provider_not_configured" });
}

/**
 * What a provider answers, or a refusal: the person reads that it does not work, the operator in the log why.
 * @throws Refusal `unavailable`; `forbidden` for an address that is a customer's already
 */
export async function mapProviderErrors<Answer>(
  { log }: Pick<ProviderTools, "log">,
  facts: { slot: Slot; userId: string },
  answer: Promise<Answer>,
): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    if (!isPaymentApiProblem(error)) throw error;
    const { failure, message } = error;
    log.error({ ...facts, failure, reason: message }, "a payment provider did not do what it was asked");
    if (failure === "taken") return refuse({ reason: "email_known_to_provider" });
    return refuse({ reason: failure === "unreachable" ? "provider_unreachable" : "provider_rejected" });
  }
}
