import { minorUnitDigits } from "../../domain/payments/money.ts";
import type { Json } from "../http/json-body.ts";
import { changeItems } from "../lifecycle/change-items.ts";
import { amountDue } from "../lifecycle/charge.ts";
import type { ChangeBilling } from "../lifecycle/prorations.ts";
import type { Transition } from "../lifecycle/transition.ts";
import { findOffer, nowSeconds, type ProviderSlot } from "../server/provider-slot.ts";
import type { SimulatedSubscription } from "../server/state.ts";
import { invalidField, noEntity, PaddleProblem } from "./errors.ts";

/** https://developer.paddle.com/concepts/subscriptions/proration */
const BILLINGS: Record<string, ChangeBilling> = {
  prorated_immediately: "prorated now",
  prorated_next_billing_period: "prorated next period",
  full_immediately: "full now",
  full_next_billing_period: "full next period",
  do_not_bill: "never",
};

/**
 * https://developer.paddle.com/errors/subscriptions/subscription_update_when_canceled and
 * https://developer.paddle.com/errors/subscriptions/subscription_update_when_past_due
 */
export function assertUpdatable({ state: { status } }: SimulatedSubscription): void {
  if (status === "canceled") {
    const detail = "cannot update subscription, as subscription is canceled";
    throw new PaddleProblem(400, "subscription_update_when_canceled", detail);
  }
  if (status === "past_due") {
    const detail = "cannot update subscription, as the subscription status is 'past_due'";
    throw new PaddleProblem(400, "subscription_update_when_past_due", detail);
  }
}

/** A change of the subscription's item, as requested. */
export function requestedChange(
  slot: ProviderSlot,
  before: SimulatedSubscription,
  fields: Json,
): Transition<SimulatedSubscription> {
  if (!fields.has("items")) return { subscription: before, events: [] };
  const item = fields.at("items").at(0);
  const priceId = item.at("price_id").text() ?? before.state.offer.priceId;
  const offer = findOffer(slot, priceId);
  if (!offer) throw noEntity(priceId);
  const billing = BILLINGS[fields.at("proration_billing_mode").text() ?? ""];
  if (billing === undefined)
    throw new PaddleProblem(
      400,
      "subscription_items_update_missing_proration_billing_mode",
      "proration_billing_mode is required when updating subscription items",
    );
  if (before.state.status === "trialing" && billing !== "never")
    throw new PaddleProblem(
      400,
      "subscription_trialing_items_update_invalid_options",
      "You must use `do_not_bill` as the `proration_billing_mode` when updating items of a subscription in trial.",
    );
  const isNextPeriod = billing.endsWith(" next period");
  if (isNextPeriod && before.state.cancelAtPeriodEnd && !fields.has("scheduled_change"))
    throw new PaddleProblem(
      400,
      "subscription_invalid_billing_mode_for_scheduled_change",
      "Subscription can only be updated with `do_not_bill`, `full_immediately`, or `prorated_immediately` as the `proration_billing_mode` because it has a scheduled change.",
    );
  if (isNextPeriod && offer.interval !== before.state.offer.interval)
    throw invalidField(
      "proration_billing_mode",
      "a change of the billing interval bills immediately, or not at all",
    );
  const seats = item.at("quantity").wholeNumber() ?? before.state.seats;
  const outcome = changeItems(before, { offer, seats, billing }, nowSeconds(slot));
  if (typeof outcome === "string") throw invalidField("items", outcome);
  assertChargeable(outcome);
  return outcome;
}

/** https://developer.paddle.com/errors/subscriptions/subscription_update_transaction_balance_less_than_charge_limit */
function assertChargeable({ subscription: { state }, events }: Transition<SimulatedSubscription>): void {
  const { currency } = state.offer;
  const balance = events.includes("change charged") ? amountDue(state) : 0;
  const minimum = 0.7 * 10 ** minorUnitDigits(currency);
  if (balance > 0 && balance < minimum)
    throw new PaddleProblem(
      400,
      "subscription_update_transaction_balance_less_than_charge_limit",
      `Unable to charge for Subscription update: Transaction balance is less than what we can charge. Transaction balance: ${balance}, Minimum payment amount: ${minimum}, Currency code: ${currency}`,
    );
}
