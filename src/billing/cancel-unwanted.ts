import { configuredSlots, type PaymentApi, type Payments } from "../domain/providers/payment-api.ts";
import { isPaymentApiProblem } from "../domain/providers/payment-api-problem.ts";
import type { Queryable } from "../store/database.ts";
import {
  type ClaimedUnwanted,
  claimUnwanted,
  closeUnwanted,
  findPaidTwice,
  finishUnwanted,
  markUnclaimed,
  reportUnwanted,
} from "../store/subscriptions/unwanted-subscriptions.ts";
import type { OperatorLog } from "./map-provider-errors.ts";

/** Then the provider is taken to refuse the refund for good: with the waits between them, after ten minutes. */
const REFUND_ATTEMPTS = 4;
/** And to cancel: after 40 minutes, as Paddle changes no subscription in the half hour before it renews. */
const CANCEL_ATTEMPTS = 5;

export type UnwantedTools = { database: Queryable; payments: Payments; log: OperatorLog };

/**
 * Cancels and refunds subscriptions that were paid for twice, or after their account was deleted, cancels
 * those that were resumed after it, and notifies the administrators. What fails at the provider is logged and
 * retried later; they are also notified of what the provider refuses to cancel, and of what no server has the key
 * for. Those of a slot whose key only another server has are left to that server.
 */
export async function cancelUnwanted(
  tools: UnwantedTools,
  isStopping: () => boolean,
): Promise<"ok" | "failed"> {
  const { database, payments, log } = tools;
  const slots = configuredSlots(payments);
  await findPaidTwice(database);
  const unclaimed = await markUnclaimed(database, slots);
  for (const unwanted of unclaimed) {
    const { provider: slot, providerSubscriptionId } = unwanted;
    log.error(
      { slot, providerSubscriptionId },
      "an unwanted subscription is still active, and its slot has no API key: cancel it by hand",
    );
    await reportUnwanted(database, unwanted);
  }
  let outcome: "ok" | "failed" = unclaimed.length > 0 ? "failed" : "ok";
  while (!isStopping()) {
    const unwanted = await claimUnwanted(database, slots);
    if (unwanted === null) break;
    if (!(await undo(tools, unwanted))) outcome = "failed";
  }
  return outcome;
}

/** Returns whether it was done, or at least nothing has failed. */
async function undo(tools: UnwantedTools, unwanted: ClaimedUnwanted): Promise<boolean> {
  const { database, payments, log } = tools;
  const { provider, providerSubscriptionId, because, attempts } = unwanted;
  const api = payments[provider] as PaymentApi;
  try {
    if (because !== "resumed") return await cancelAndRefund(tools, api, unwanted);
    await cancelResumed(database, api, unwanted);
    return true;
  } catch (error) {
    if (!isPaymentApiProblem(error)) throw error;
    log.error(
      { slot: provider, providerSubscriptionId, because, reason: error.message },
      "an unwanted subscription could not be canceled yet",
    );
    if (attempts >= CANCEL_ATTEMPTS && error.failure !== "unreachable")
      await reportUnwanted(database, unwanted);
    return false;
  }
}

async function cancelAndRefund(
  { database, log }: UnwantedTools,
  api: PaymentApi,
  unwanted: ClaimedUnwanted,
): Promise<boolean> {
  const { provider, providerSubscriptionId, because, attempts } = unwanted;
  await api.cancelSubscription(providerSubscriptionId);
  const isLastAttempt = attempts >= REFUND_ATTEMPTS;
  try {
    const isRefunded = await api.refundSubscription(providerSubscriptionId);
    // The first event may arrive before the payment has settled; it cannot be refunded until then.
    if (isRefunded || isLastAttempt) await finishUnwanted(database, unwanted, { isRefunded });
    return true;
  } catch (error) {
    if (!isPaymentApiProblem(error)) throw error;
    log.error(
      { slot: provider, providerSubscriptionId, because, reason: error.message },
      "an unwanted subscription was canceled, but could not be refunded",
    );
    // It may refuse for good, such as what is disputed, or what the key is not allowed to refund.
    if (isLastAttempt && error.failure !== "unreachable")
      await finishUnwanted(database, unwanted, { isRefunded: false });
    return false;
  }
}

async function cancelResumed(database: Queryable, api: PaymentApi, unwanted: ClaimedUnwanted): Promise<void> {
  const state = await api.fetchSubscription(unwanted.providerSubscriptionId);
  // The event may have been on its way as the account was deleted.
  const isEnding = state === null || state.status === "canceled" || state.cancelAtPeriodEnd === true;
  if (isEnding) return closeUnwanted(database, unwanted);
  await api.cancelSubscription(unwanted.providerSubscriptionId);
  await finishUnwanted(database, unwanted, { isRefunded: null });
}
