import type { PaymentEvent } from "./payment-event.ts";
import type { ProviderTraits } from "./provider-traits.ts";
import type { Slot } from "./slot.ts";

/** The API of each slot's provider; `null`: not configured. */
export type Payments = Record<Slot, PaymentApi | null>;

/** The outbound half of a provider. Every call ends within 10 s, retries included, and throws PaymentApiProblem. */
export type PaymentApi = {
  readonly traits: ProviderTraits;
  createCheckout(order: CheckoutOrder): Promise<OpenedCheckout>;
  /** Closes an open checkout, so that it can no longer be paid, where the provider can do that. */
  closeCheckout(checkout: ClosingCheckout): Promise<CheckoutEnd>;
  /**
   * Changes an open checkout to another order, so that there is never a second one. Only where
   * `traits.checkout.canBeUpdated`.
   */
  updateCheckout(checkoutId: string, order: CheckoutOrder): Promise<OpenedCheckout>;
  /** Where the customer manages a subscription. Such links are short-lived: fetch one each time. */
  openPortal(customer: PayingCustomer): Promise<{ url: string }>;
  /**
   * The subscription as the provider has it now, in the shape of an event: `customer.subscription.updated`, or `.deleted`
   * once it has ended. `null`: the provider knows none by this id.
   */
  fetchSubscription(providerSubscriptionId: string): Promise<PaymentEvent | null>;
  /** Ends it at once where the provider can do that, else with its period. Succeeds for one that has ended. */
  cancelSubscription(providerSubscriptionId: string): Promise<void>;
  /** Refunds its latest payment in full. `false`: there is nothing to refund. */
  refundSubscription(providerSubscriptionId: string): Promise<boolean>;
  /** The events that the provider has sent since, oldest first; `null`: it does not list them. */
  listEvents: ((since: Date) => AsyncIterable<ListedEvent>) | null;
  /** The state of every subscription, ended ones too; with a time, of at least those that have changed since. */
  listSubscriptions(since: Date | null): AsyncIterable<PaymentEvent>;
  /** Whether something is sold under this id. */
  knowsPrice(priceId: string): Promise<boolean>;
};

export type CheckoutOrder = {
  /** With the same key the provider opens one checkout, where it supports that. */
  idempotencyKey: string;
  priceId: string;
  seats: number;
  userId: string;
  planId: string;
  email: string;
  /** Whether the person has confirmed the address. */
  isEmailConfirmed: boolean;
  /** By which the provider knows the person already, if it does. */
  customerId: string | null;
  /** Where the person returns to, having paid or not. */
  successUrl: string;
  cancelUrl: string;
};

export type OpenedCheckout = {
  id: string;
  url: string;
  /** `null`: the provider does not say. */
  expiresAt: Date | null;
};

export type ClosingCheckout = {
  id: string;
  userId: string;
  /** With which it was opened. */
  email: string;
};

/**
 * `closed`: it can no longer be paid. `open`: it still can, as the provider cannot close it. `paid`: too late; the
 * subscription is `null` while the provider does not name it.
 */
export type CheckoutEnd =
  | { status: "closed" | "open" }
  | { status: "paid"; providerSubscriptionId: string | null };

export type PayingCustomer = {
  userId: string;
  customerId: string | null;
  providerSubscriptionId: string | null;
  returnUrl: string;
};

/** An event as the provider would have delivered it: `rawBody` is the JSON that its webhook would carry. */
export type ListedEvent = {
  eventId: string;
  eventType: string;
  rawBody: Buffer;
  /** What a delivery would carry outside its body, by lower-case name. */
  headers: Readonly<Record<string, string>>;
};

/** Why a provider did not do what it was asked. */
export type PaymentApiFailure =
  /** No response in time, or an error of the provider's own: try again later. */
  | "unreachable"
  /** The key is refused: for the operator to mend. */
  | "unauthorized"
  /** The provider knows nothing by that id. */
  | "missing"
  /** The address belongs to a customer already, and nothing shows that the person is that customer. */
  | "taken"
  /** The request is wrong: it names a price that the provider does not know, for instance. */
  | "rejected";

/** The message is for the operator: it quotes the provider, but never a key. */
export class PaymentApiProblem extends Error {
  override name = "PaymentApiProblem";
  readonly failure: PaymentApiFailure;
  /** How long the provider asks to be left alone; `null`: it does not say. */
  readonly retryAfterMs: number | null;

  constructor(
    failure: PaymentApiFailure,
    message: string,
    { retryAfterMs = null, ...options }: ErrorOptions & { retryAfterMs?: number | null } = {},
  ) {
    super(message, options);
    this.failure = failure;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Not by its class: the pages are a bundle, with classes of their own. */
export function isPaymentApiProblem(error: unknown): error is PaymentApiProblem {
  return error instanceof Error && "failure" in error;
}
