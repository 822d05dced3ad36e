import type { Reversal } from "../../domain/payment.ts";
import type { PaymentEvent } from "../../domain/payment-event.ts";
import type { PaymentState } from "../../domain/payment-state.ts";
import { UnreadablePayload } from "../adapter.ts";

/**
 * A listed payment, from its reading as an event about it. `null`: no payment, or unreadable.
 * @param createdAt stands in where the reading has no time of its own
 */
export function paymentState(
  read: () => PaymentEvent | null,
  {
    createdAt,
    isUndecided = false,
    reversals = [],
    hasUnknownDisputes = false,
  }: { createdAt: Date | null } & Partial<
    Pick<PaymentState, "isUndecided" | "reversals" | "hasUnknownDisputes">
  >,
): PaymentState | null {
  const event = nullIfUnreadable(read);
  const payment = event?.payment;
  if (!event || !payment?.charge) return null;
  const { providerSubscriptionId, customerId, userId } = event;
  const { charge, names } = payment;
  return {
    providerSubscriptionId,
    customerId,
    userId,
    names,
    isUndecided,
    reversals,
    hasUnknownDisputes,
    charge: {
      ...charge,
      refundedAmount: charge.refundedAmount ?? 0,
      occurredAt: charge.occurredAt ?? createdAt,
    },
  };
}

/** A listed refund or dispute, from its reading as an event about it. */
export function listedReversal(read: () => PaymentEvent | null): Reversal | null {
  return nullIfUnreadable(read)?.payment?.reversal ?? null;
}

function nullIfUnreadable(read: () => PaymentEvent | null): PaymentEvent | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnreadablePayload) return null;
    throw error;
  }
}
