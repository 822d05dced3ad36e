import { UnreadablePayload } from "../../domain/deliveries/payload-problems.ts";
import type { PaymentEvent } from "../../domain/events/payment-event.ts";
import type { Reversal } from "../../domain/payments/payment.ts";
import type { PaymentState } from "../../domain/payments/payment-state.ts";
import type { ConnectedProvider } from "./connected-provider.ts";
import { problem } from "./problems.ts";

type Reading = {
  /** Stands in where the reading has no time of its own. */
  createdAt: Date | null;
  isUndecided?: boolean;
  /** `null`: an unreadable one, without which the payment would be taken for unrefunded. */
  reversals?: readonly (Reversal | null)[];
  hasUnknownDisputes?: boolean;
};

/** A listed payment, from its reading as an event about it. `null`: no payment, or unreadable. */
export function paymentState(
  read: () => PaymentEvent | null,
  { createdAt, isUndecided = false, reversals = [], hasUnknownDisputes = false }: Reading,
): PaymentState | null {
  const event = nullIfUnreadable(read);
  const payment = event?.payment;
  const readable = reversals.filter((reversal) => reversal !== null);
  if (!event || !payment?.charge || readable.length < reversals.length) return null;
  const { providerSubscriptionId, customerId, userId } = event;
  const { charge, names } = payment;
  return {
    providerSubscriptionId,
    customerId,
    userId,
    names,
    isUndecided,
    reversals: readable,
    hasUnknownDisputes,
    charge: {
      ...charge,
      refundedAmount: charge.refundedAmount ?? 0,
      occurredAt: charge.occurredAt ?? createdAt,
    },
  };
}

/** A listed refund or dispute, from its reading as an event about it. `[]`: neither; `[null]`: unreadable. */
export function listedReversals(read: () => PaymentEvent | null): (Reversal | null)[] {
  const event = nullIfUnreadable(read);
  if (event === null) return [null];
  const reversal = event.payment?.reversal ?? null;
  return reversal === null ? [] : [reversal];
}

/**
 * A payment that was asked for by its id, and that the provider has.
 * @throws PaymentApiProblem when it is unreadable: `null` would mean that the provider has none
 */
export function fetchedPayment(
  provider: ConnectedProvider,
  id: string,
  state: PaymentState | null,
): PaymentState {
  if (state !== null) return state;
  throw problem(provider, "unreadable", `the payment ${id} is not as expected`);
}

function nullIfUnreadable(read: () => PaymentEvent | null): PaymentEvent | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnreadablePayload) return null;
    throw error;
  }
}
