import type { Form } from "../http/form.ts";
import { amountDue } from "../lifecycle/charge.ts";
import { startBilling } from "../lifecycle/start-billing.ts";
import type { EmittedEvent } from "../lifecycle/subscription.ts";
import { emitEvents } from "../server/emit-events.ts";
import { findCustomer, findOffer, nowSeconds, type ProviderSlot } from "../server/provider-slot.ts";
import { countRedemption } from "../server/redeem.ts";
import type { SimulatedSubscription } from "../server/state.ts";
import { invalid, missing } from "./errors.ts";
import { trialDaysIn } from "./order.ts";
import { requestedDiscount } from "./requested-discount.ts";

/** A subscription without a checkout. https://docs.stripe.com/api/subscriptions/create */
export function createSubscription(slot: ProviderSlot, form: Form): SimulatedSubscription {
  const customerId = required(form, "customer");
  const customer = findCustomer(slot, customerId);
  if (customer === null) throw missing("customer", customerId, "customer", 400);
  const priceId = required(form, "items[0][price]");
  const offer = findOffer(slot, priceId);
  if (offer === null) throw missing("price", priceId, "items[0][price]", 400);
  const seats = form.wholeNumber("items[0][quantity]") ?? 1;
  if (!(seats >= 1)) throw invalid("Invalid integer: quantity must be at least 1.", "items[0][quantity]");
  const trialDays = trialDaysIn(form, "trial_period_days");
  const discount = requestedDiscount(slot, form, { offer, customerId, trialDays });
  const now = nowSeconds(slot);
  const billing = startBilling({ offer, seats, trialDays, discount }, now);
  const isDue = trialDays === 0 && amountDue(billing.state) > 0;
  const waits = isDue && form.text("payment_behavior") === "default_incomplete";
  if (isDue && !waits && form.text("default_payment_method") === null) throw noPaymentMethod();

  if (discount !== null) countRedemption(slot, discount);
  const metadata = form.entries("metadata");
  const { subscriptionId } = slot.renderer.newIds(slot.state.run, slot.state.made);
  slot.state.made += 1;
  return emitEvents(slot, {
    subscription: {
      ...billing,
      state: {
        ...billing.state,
        ...(waits ? { status: "incomplete" } : {}),
        ...(form.text("cancel_at_period_end") === "true"
          ? { cancelAtPeriodEnd: true, canceledBy: "seller", canceledAtSeconds: now }
          : {}),
      },
      ids: { userId: metadata.userId ?? "", subscriptionId, customerId },
      bought: offer,
      startedAtSeconds: now,
      checkout: {
        id: "",
        data: {},
        subscriptionData: metadata,
        email: customer.email,
        externalId: null,
        successUrl: null,
        cancelUrl: null,
      },
      lastEvent: { event: "created", atSeconds: now },
      eventCount: 0,
    },
    events: eventsOf({ isDue, waits }),
  });
}

function eventsOf({ isDue, waits }: { isDue: boolean; waits: boolean }): EmittedEvent[] {
  return isDue && !waits ? ["created", "activated", "charged"] : ["created"];
}

function required(form: Form, name: string): string {
  const value = form.text(name);
  if (value === null) throw invalid(`Missing required param: ${name}.`, name, "parameter_missing");
  return value;
}

function noPaymentMethod() {
  return invalid(
    "This customer has no attached payment source or default payment method. Please consider adding a default payment method.",
    "default_payment_method",
    "resource_missing",
  );
}
