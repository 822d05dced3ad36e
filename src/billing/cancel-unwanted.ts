import type { PaymentApi, Payments } from "../domain/payment-api.ts";
import { isPaymentApiProblem } from "../domain/payment-api-problem.ts";
import { SLOTS } from "../domain/slot.ts";
import type { Queryable } from "../store/database.ts";
import {
  type ClaimedUnwanted,
  claimUnwanted,
  findPaidTwice,
  finishUnwanted,
  postponeUnclaimed,
} from "../store/unwanted-subscriptions.ts";
import type { OperatorLog } from "./map-provider-errors.ts";

/** With the waits between them, ten minutes. */
const REFUND_ATTEMPTS = 4;

export type UnwantedTools = { database: Queryable; payments: Payments; log: OperatorLog };

/**
 * Cancels and refunds subscriptions that were paid for twice, or after their account was deleted, and
 * notifies the administrators. What fails at the provider is logged and retried later. Those of a slot whose
 * key only another server has are left to that server.
 */
export async function cancelUnwanted(
  tools: UnwantedTools,
  isStopping: () => boolean,
): Promise<"ok" | "failed"> {
  const { database, payments, log } = tools;
  const slots = SLOTS.filter((slot) => payments[slot] !== null);
  await findPaidTwice(database);
  const unclaimed = await postponeUnclaimed(database, slots);
  for (const { provider: slot, providerSubscriptionId } of unclaimed)
    log.error(
      { slot, providerSubscriptionId },
      "an unwanted subscription is still active, and its slot has no API key: cancel it by hand",
    );
  let outcome: "ok" | "failed" = unclaimed.length > 0 ? "failed" : "ok";
  while (!isStopping()) {
    const unwanted = await claimUnwanted(database, slots);
    if (unwanted === null) break;
    if (!(await cancelAndRefund(tools, unwanted))) outcome = "failed";
  }
  return outcome;
}

async function cancelAndRefund(
  { database, payments, log }: UnwantedTools,
  unwanted: ClaimedUnwanted,
): Promise<boolean> {
  const { provider, providerSubscriptionId, attempts } = unwanted;
  const facts = { slot: provider, providerSubscriptionId };
  const api = payments[provider] as PaymentApi;
  try {
    await api.cancelSubscription(providerSubscriptionId);
    const isRefunded = await api.refundSubscription(providerSubscriptionId);
    // The first event may arrive before the payment has settled; it cannot be refunded until then.
    if (!isRefunded && attempts < REFUND_ATTEMPTS) return true;
    await finishUnwanted(database, unwanted, { isRefunded });
    return true;
  } catch (error) {
    if (!isPaymentApiProblem(error)) throw error;
    log.error(
      { ...facts, reason: error.message },
      "an unwanted subscription could not be canceled and refunded yet",
    );
    return false;
  }
}
