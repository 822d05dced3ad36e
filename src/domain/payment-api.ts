import type { PaymentEvent } from "./payment-event.ts";
import type { Slot } from "./slot.ts";

/** The API of each slot's provider; `null`: not configured. */
export type Payments = Record<Slot, PaymentApi | null>;

/** The outbound half of a wire format: what is asked of a provider. Every call ends within 10 s, retries included. */
export type PaymentApi = {
  /** @throws PaymentApiProblem */
  createCheckout(order: CheckoutOrder): Promise<OpenedCheckout>;
  /**
   * So that one that has been replaced by another cannot be paid as well. Where the provider has no way to close one, nothing
   * happens: it closes by itself, some time. @throws PaymentApiProblem, also for one that has been paid
   */
  closeCheckout(checkoutId: string): Promise<void>;
  /** Where the customer manages what is paid for; such links are short-lived: to be asked for anew each time. @throws PaymentApiProblem */
  openPortal(customer: PayingCustomer): Promise<{ url: string }>;
  /**
   * The subscription as the provider knows it now, in the shape of an event: `customer.subscription.updated`, or `.deleted` once
   * it has ended. `null`: the provider knows none by this id. @throws PaymentApiProblem
   */
  fetchSubscription(providerSubscriptionId: string): Promise<PaymentEvent | null>;
  /** Ends it at once where the provider can do that, else with its period. One that has ended already is none the worse. @throws PaymentApiProblem */
  cancelSubscription(providerSubscriptionId: string): Promise<void>;
  /** What the provider says it has sent since, oldest first; `null`: it keeps no such list. @throws PaymentApiProblem */
  listEvents: ((since: Date) => AsyncIterable<ListedEvent>) | null;
  /** Whether something is sold under this id; not there: it cannot be asked. @throws PaymentApiProblem */
  knowsPrice?(priceId: string): Promise<boolean>;
};

export type CheckoutOrder = {
  /** Asked for twice with the same key, the provider opens one checkout, where it can. */
  idempotencyKey: string;
  priceId: string;
  seats: number;
  userId: string;
  planId: string;
  email: string;
  /** Whether the person has shown that the address is theirs. */
  isEmailConfirmed: boolean;
  /** By which the provider knows the person already, if it does. */
  customerId: string | null;
  /** Where the person comes back to, having paid or not. */
  successUrl: string;
  cancelUrl: string;
};

export type OpenedCheckout = {
  id: string;
  url: string;
  /** `null`: the provider does not say. */
  expiresAt: Date | null;
};

export type PayingCustomer = {
  customerId: string | null;
  providerSubscriptionId: string | null;
  returnUrl: string;
};

/** An event as the provider would have delivered it: `rawBody` is the JSON that its webhook would carry. */
export type ListedEvent = { eventId: string; eventType: string; rawBody: Buffer };

/** Why a provider did not do what it was asked to. */
export type PaymentApiFailure =
  /** No answer in time, or the provider's own failure: to be tried again later. */
  | "unreachable"
  /** The key is refused: for the operator to mend. */
  | "unauthorized"
  /** It knows nothing by that id. */
  | "missing"
  /** The address is a customer's already, and nothing shows that whoever asks is that customer. */
  | "taken"
  /** What was asked is wrong, a price id that it does not know for instance. */
  | "rejected";

/** The message is for the operator: it names the provider's own words, but never a key. */
export class PaymentApiProblem extends Error {
  override name = "PaymentApiProblem";
  readonly failure: PaymentApiFailure;

  constructor(failure: PaymentApiFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.failure = failure;
  }
}

/** Not by its class: the pages are a bundle, with classes of their own of everything. */
export function isPaymentApiProblem(error: unknown): error is PaymentApiProblem {
  return error instanceof Error && "failure" in error;
}
