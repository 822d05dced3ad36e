import { isAnyConfigured, type PaymentApi, type Payments } from "../domain/providers/payment-api.ts";
import { isPaymentApiProblem } from "../domain/providers/payment-api-problem.ts";
import { refuse } from "../domain/refusals/refusal.ts";
import type { Slot } from "../domain/slot.ts";

/** Details for the operator that are not shown to the user. */
export type OperatorLog = { error(facts: object, message: string): void };

export type ProviderTools = {
  /** `null`: not configured. */
  payments: Payments;
  log: OperatorLog;
};

/** @throws Refusal `unavailable` when nothing is configured for the slot */
export function providerOf(payments: Payments, slot: Slot): PaymentApi {
  const api = payments[slot];
  if (api !== null) return api;
  return refuse({
    reason: "provider_not_configured",
    params: isAnyConfigured(payments) ? { provider: slot } : {},
  });
}

/**
 * The provider's response, or a refusal. The user learns that the request failed; why is only in the
 * operator's log.
 * @throws Refusal `unavailable`; `forbidden` when another customer has the email address; `conflict` for a change
 * that the provider cannot make, or whose payment is declined
 */
export async function mapProviderErrors<Response>(
  { log }: Pick<ProviderTools, "log">,
  facts: { slot: Slot; userId: string },
  response: Promise<Response>,
): Promise<Response> {
  try {
    return await response;
  } catch (error) {
    if (!isPaymentApiProblem(error)) throw error;
    const { failure, message } = error;
    // What cannot be done now, or not paid for: nothing for an operator to mend.
    if (failure === "unsupported")
      return refuse({ reason: "change_not_supported", params: { cause: error.obstacle } });
    if (failure === "declined") return refuse({ reason: "payment_declined" });
    log.error({ ...facts, failure, reason: message }, "a request to a payment provider failed");
    if (failure === "taken") return refuse({ reason: "email_known_to_provider" });
    if (failure === "incomplete") return refuse({ reason: "change_incomplete" });
    const hasAnswered = failure !== "unreachable" && failure !== "unreadable";
    return refuse({ reason: hasAnswered ? "provider_rejected" : "provider_unreachable" });
  }
}
