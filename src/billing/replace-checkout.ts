import { randomUUID } from "node:crypto";
import { errorText } from "../domain/error-text.ts";
import type { OpenedCheckout, PaymentApi } from "../domain/providers/payment-api.ts";
import { isPaymentApiProblem } from "../domain/providers/payment-api-problem.ts";
import { refuse } from "../domain/refusals/refusal.ts";
import { retireCheckout, type StoredCheckout } from "../store/subscriptions/checkouts.ts";
import { rememberReplaced } from "../store/subscriptions/unwanted-subscriptions.ts";
import { adoptPaid, type PaidCheckout } from "./adopt-paid.ts";
import { type BillingTools, checkoutOrder, type Order } from "./checkout-order.ts";
import { closeStoredCheckout } from "./close-checkout.ts";
import { isRecorded } from "./is-recorded.ts";
import { mapProviderErrors } from "./map-provider-errors.ts";

/**
 * Updates or closes the previous checkout, so that it cannot be paid as well. `null`: it was closed, or
 * cannot be, so that a second payment is undone.
 * @throws Refusal `unavailable`; `conflict` for a checkout that was paid
 */
export async function replaceCheckout(
  deps: BillingTools,
  { api, order }: { api: PaymentApi; order: Order },
  previous: StoredCheckout,
): Promise<OpenedCheckout | null> {
  const closing = { ...previous, userId: order.userId, email: order.email };
  const facts = { slot: previous.provider, userId: order.userId };
  const isSameSlot = previous.provider === order.provider;
  await retireCheckout(deps.database, order.userId);
  if (isSameSlot && api.traits.checkout.canBeUpdated) {
    const updating = api.updateCheckout(previous.id, await checkoutOrder(deps, order, randomUUID()));
    const updated = updating.catch((error: unknown) => {
      // The provider rejects the update of a paid or canceled checkout: closing it shows which it is.
      if (!isPaymentApiProblem(error) || !["rejected", "missing"].includes(error.failure)) throw error;
      return null;
    });
    const opened = await mapProviderErrors(deps, facts, updated);
    if (opened !== null) return opened;
  }
  const end = await mapProviderErrors(deps, facts, closeStoredCheckout(deps, closing));
  switch (end.status) {
    case "closed":
      return null;
    case "open":
      // If both are paid, the later one is canceled and refunded.
      await rememberReplaced(deps.database, closing);
      return null;
    case "paid":
      if (await isRecorded(deps.database, previous, end.providerSubscriptionId)) {
        // The caller checks whether one of the person's is running. It may be somebody else's, see `isRecorded`: then
        // the checkout can still be paid.
        await rememberReplaced(deps.database, closing);
        return null;
      }
      if (end.providerSubscriptionId !== null)
        recordPaid(deps, { ...closing, providerSubscriptionId: end.providerSubscriptionId });
      return refuse({ reason: "checkout_paid" });
    default:
      return end satisfies never;
  }
}

/** In the background: the user is refused at once. */
function recordPaid(deps: BillingTools, paid: PaidCheckout): void {
  adoptPaid(deps, paid).catch((error: unknown) => {
    const facts = { slot: paid.provider, reason: errorText(error) };
    deps.log.error(facts, "the subscription of a paid checkout could not be recorded");
  });
}
