import type { PaymentStatus } from "../../domain/payments/payment.ts";
import { amountDue } from "../lifecycle/charge.ts";
import { reversedAmount } from "../lifecycle/reversal.ts";
import type { EventContext } from "../renderer.ts";
import { eventContextOf } from "./event-context.ts";
import { findSubscription, type ProviderSlot } from "./provider-slot.ts";
import type { SimulatedPayment } from "./state.ts";

/** Stores what an event charges, or fails to; `false`: nothing is paid. */
export function recordPayment({ renderer, state }: ProviderSlot, context: EventContext): boolean {
  const { ids, at, chargeAt = at, step } = context;
  if (renderer.payments === null || !renderer.payments.reportedBy.includes(step.event)) return false;
  const id = renderer.payments.idOf(context);
  const payment = chargeAt === at ? undefined : paymentsById(state.payments).get(id);
  if (payment) Object.assign(payment, step);
  else
    state.payments.push({
      id,
      subscriptionId: ids.subscriptionId,
      at: chargeAt,
      ...step,
      reversals: [],
    });
  return step.event !== "charge failed";
}

/** The newest first. */
export function paymentsOf(slot: ProviderSlot, subscriptionId: string | null): SimulatedPayment[] {
  const all = slot.state.payments.toReversed();
  return subscriptionId === null ? all : all.filter((payment) => payment.subscriptionId === subscriptionId);
}

export function findPayment({ state }: ProviderSlot, id: string): SimulatedPayment | null {
  return paymentsById(state.payments).get(id) ?? null;
}

const BY_ID = new WeakMap<readonly SimulatedPayment[], Map<string, SimulatedPayment>>();

/** Payments are added and changed, but never removed or replaced. */
function paymentsById(payments: readonly SimulatedPayment[]): ReadonlyMap<string, SimulatedPayment> {
  const byId = BY_ID.get(payments) ?? new Map<string, SimulatedPayment>();
  BY_ID.set(payments, byId);
  for (let at = byId.size; at < payments.length; at += 1) {
    const payment = payments[at] as SimulatedPayment;
    byId.set(payment.id, payment);
  }
  return byId;
}

/** What the event that reported it was rendered from. */
export function paymentContext(slot: ProviderSlot, payment: SimulatedPayment): EventContext {
  const subscription = findSubscription(slot, payment.subscriptionId);
  if (subscription === null) throw new Error(`the payment ${payment.id} has no subscription`);
  const { at, event, atSeconds, state } = payment;
  return eventContextOf(slot, {
    ...subscription,
    state,
    lastEvent: { event, atSeconds },
    eventCount: at + 1,
    failedAt: null,
  });
}

export function hasFailed({ event }: Pick<SimulatedPayment, "event">): boolean {
  return event === "charge failed";
}

export function chargedAmount({ state }: Pick<SimulatedPayment, "state">): number {
  return amountDue(state);
}

export function refundedAmount({ reversals }: Pick<SimulatedPayment, "reversals">): number {
  return reversedAmount(reversals, "refund");
}

/** As a receiver of all events must have stored it. */
export function paymentStatus(payment: SimulatedPayment): PaymentStatus {
  const refunded = refundedAmount(payment);
  if (hasFailed(payment)) return "failed";
  if (reversedAmount(payment.reversals, "dispute") > 0) return "disputed";
  if (refunded === 0) return "paid";
  return refunded >= chargedAmount(payment) ? "refunded" : "partly_refunded";
}
