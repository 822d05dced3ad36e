import { startBilling } from "../lifecycle/lifecycle.ts";
import { emitEvents } from "./emit-events.ts";
import { nowSeconds, type ProviderSlot, subscriptionsOfCustomer } from "./provider-slot.ts";
import type { Checkout, Customer, SimulatedSubscription } from "./state.ts";

export type Payment = { email: string; seats: number; trialDays: number };

/** The customer pays: creates the subscription. Text: why the provider refuses the payment. */
export function payCheckout(
  slot: ProviderSlot,
  checkout: Checkout,
  { email, seats, trialDays }: Payment,
): SimulatedSubscription | string {
  const { traits, renderer } = slot;
  const now = nowSeconds(slot);
  const customer = customerFor(slot, checkout, email, now);
  const running = subscriptionsOfCustomer(slot, customer.id).some(({ state }) => state.status !== "canceled");
  if (traits.onePerCustomer && running) return "You already have an active subscription.";
  const newIds = renderer.newIds(slot.state.run, slot.state.made);
  slot.state.made += 1;
  const ids = { userId: textOf(checkout.data.userId), ...newIds, customerId: customer.id };
  checkout.seats = seats;
  checkout.status = "complete";
  checkout.completedAtSeconds = now;
  checkout.customerId = customer.id;
  checkout.email = email;
  checkout.subscriptionId = ids.subscriptionId;
  const { id, offer, data, subscriptionData, successUrl, cancelUrl } = checkout;
  const subscription: SimulatedSubscription = {
    ...startBilling({ offer, seats, trialDays }, now),
    ids,
    bought: offer,
    startedAtSeconds: now,
    checkout: {
      ...{ id, data, subscriptionData, successUrl, cancelUrl, email },
      externalId: customer.externalId ?? checkout.externalId,
    },
    lastEvent: { event: "created", atSeconds: now },
    eventCount: 0,
  };
  return emitEvents(slot, { subscription, events: traits.checkoutEvents });
}

function customerFor(slot: ProviderSlot, checkout: Checkout, email: string, now: number): Customer {
  const { customers, run } = slot.state;
  const { findsCustomersByEmail } = slot.traits;
  const { customerId, externalId } = checkout;
  const known = customers.find(
    (customer) =>
      customer.id === customerId ||
      (externalId !== null && findsCustomersByEmail && customer.externalId === externalId) ||
      (findsCustomersByEmail && customerId === null && customer.email === email),
  );
  if (known) {
    known.externalId ??= externalId;
    return known;
  }
  const { customerId: id } = slot.renderer.newIds(`${run}c`, customers.length);
  return addCustomer(slot, { id: customerId ?? id, email, externalId, createdAtSeconds: now });
}

export function addCustomer(slot: ProviderSlot, customer: Customer): Customer {
  slot.state.customers.push(customer);
  slot.changed();
  return customer;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
