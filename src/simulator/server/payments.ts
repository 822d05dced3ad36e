import type { EventContext } from "../renderer.ts";
import { eventContextOf } from "./event-context.ts";
import { findSubscription, type ProviderSlot } from "./provider-slot.ts";
import type { SimulatedPayment, SimulatedSubscription } from "./state.ts";

/** Stores what an event charges, if anything. */
export function recordPayment(slot: ProviderSlot, subscription: SimulatedSubscription): void {
  const { renderer, state } = slot;
  const { event } = subscription.lastEvent;
  if (renderer.payments === null || !renderer.payments.reportedBy.includes(event)) return;
  const context = eventContextOf(slot, subscription);
  const { ids, at, step } = context;
  state.payments.push({
    id: renderer.payments.idOf(context),
    subscriptionId: ids.subscriptionId,
    ...{ at, event, atSeconds: step.atSeconds, state: step.state },
    refundedAmount: 0,
  });
}

/** The newest first. */
export function paymentsOf(slot: ProviderSlot, subscriptionId: string | null): SimulatedPayment[] {
  const all = slot.state.payments.toReversed();
  return subscriptionId === null ? all : all.filter((payment) => payment.subscriptionId === subscriptionId);
}

export function findPayment({ state }: ProviderSlot, id: string): SimulatedPayment | null {
  return state.payments.find((payment) => payment.id === id) ?? null;
}

/** What the event that reported it was rendered from. */
export function paymentContext(slot: ProviderSlot, payment: SimulatedPayment): EventContext {
  const subscription = findSubscription(slot, payment.subscriptionId);
  if (subscription === null) throw new Error(`the payment ${payment.id} has no subscription`);
  const { at, event, atSeconds, state } = payment;
  return eventContextOf(slot, {
    ...subscription,
    ...{ state, lastEvent: { event, atSeconds }, eventCount: at + 1 },
  });
}

export function chargedAmount({ state }: Pick<SimulatedPayment, "state">): number {
  return state.offer.amount * state.seats;
}

/** Refunds the whole payment. */
export function refundPayment(slot: ProviderSlot, payment: SimulatedPayment): void {
  payment.refundedAmount = chargedAmount(payment);
  slot.changed();
}
