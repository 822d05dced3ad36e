import { isAnyConfigured } from "../domain/providers/payment-api.ts";
import { isPaymentApiProblem } from "../domain/providers/payment-api-problem.ts";
import type { RunningSubscription } from "../store/accounts/account-deletion.ts";
import type { ProviderTools } from "./map-provider-errors.ts";

/**
 * Cancels a subscription at its payment provider, immediately. Succeeds too when it has already ended there, or
 * is unknown: nobody must be kept from deleting the account by a key that was replaced.
 * @throws when it may not have ended
 */
export type CancelSubscription = (subscription: RunningSubscription) => Promise<void>;

/** Cancels the subscriptions of a deleted account; `null` when no provider is configured at all. */
export function cancelAtProvider({ payments, log }: ProviderTools): CancelSubscription | null {
  if (!isAnyConfigured(payments)) return null;
  return async ({ id, provider, providerSubscriptionId }) => {
    const facts = { slot: provider, subscriptionId: id };
    const api = payments[provider];
    if (api === null || providerSubscriptionId === null) {
      const reason =
        api === null ? "nothing is configured for its slot" : "the provider's id of it is not known yet";
      log.error({ ...facts, reason }, "a subscription could not be canceled");
      throw new Error(`the subscription could not be canceled: ${reason}`);
    }
    try {
      const result = await api.cancelSubscription(providerSubscriptionId);
      if (result === "unknown")
        log.error(
          { ...facts, providerSubscriptionId },
          "the subscription of a deleted account is unknown to its provider: cancel it where it was bought",
        );
    } catch (error) {
      const reason = isPaymentApiProblem(error) ? error.message : String(error);
      log.error({ ...facts, reason }, "a subscription could not be canceled");
      throw error;
    }
  };
}
