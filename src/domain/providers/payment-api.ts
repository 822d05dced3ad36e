import type { PaymentEvent } from "../events/payment-event.ts";
import type { PaymentState } from "../payments/payment-state.ts";
import { SLOTS, type Slot } from "../slot.ts";
import type { ProviderTraits } from "./provider-traits.ts";

/** The API of each slot's provider; `null`: not configured. */
export type Payments = Record<Slot, PaymentApi | null>;

/** The slots whose provider this process can call. */
export function configuredSlots(payments: Payments): Slot[] {
  return SLOTS.filter((slot) => payments[slot] !== null);
}

export function isAnyConfigured(payments: Payments): boolean {
  return configuredSlots(payments).length > 0;
}

/** `unknown`: the provider has no such subscription; it may exist in another account or mode. */
export type CancelResult = "canceled" | "unknown";

/**
 * The outbound half of a provider. Every call ends within 10 s, retries included (those of the command line wait for
 * rate limits besides), and throws PaymentApiProblem.
 */
export type PaymentApi = {
  readonly traits: ProviderTraits;
  createCheckout(order: CheckoutOrder): Promise<OpenedCheckout>;
  /** Closes an open checkout so that it can no longer be paid, where the provider supports that. */
  closeCheckout(checkout: ClosingCheckout): Promise<CheckoutEnd>;
  /**
   * Changes an open checkout to another order instead of opening a second one. Only where
   * `traits.checkout.canBeUpdated`.
   */
  updateCheckout(checkoutId: string, order: CheckoutOrder): Promise<OpenedCheckout>;
  /**
   * The customer portal of a subscription. Links are short-lived: fetch one each time. Fails with `taken` for
   * a customer who may be somebody else.
   */
  openPortal(customer: PayingCustomer): Promise<{ url: string }>;
  /**
   * The provider's current state as an event: `customer.subscription.updated`, or `.deleted` once it has
   * ended. `null`: the provider has no such subscription.
   */
  fetchSubscription(providerSubscriptionId: string): Promise<PaymentEvent | null>;
  /**
   * Cancels at once where the provider supports that, else at the period's end. Succeeds if it has already
   * ended.
   */
  cancelSubscription(providerSubscriptionId: string): Promise<CancelResult>;
  /**
   * Changes price or seats; at the period's end only where `traits.changesAtPeriodEnd`. Replaces a change
   * that waits for the period's end, or withdraws it when nothing else is to change then.
   */
  changeSubscription(providerSubscriptionId: string, change: ChangeOrder): Promise<void>;
  /**
   * The change that waits for the period's end; `null`: none does, as without `traits.changesAtPeriodEnd`.
   * @param currentPriceId the price that is paid now, where known
   */
  fetchScheduledChange(
    providerSubscriptionId: string,
    currentPriceId: string | null,
  ): Promise<WaitingChange | null>;
  /** What the change would cost; `null`: the provider does not say. Refuses what the provider is known to refuse. */
  previewChange(providerSubscriptionId: string, change: ChangeOrder): Promise<ChangePreview | null>;
  /** Refunds its latest payment in full. `false`: there is nothing to refund. */
  refundSubscription(providerSubscriptionId: string): Promise<boolean>;
  /** The provider's events since then, oldest first; `null`: it does not list them. */
  listEvents: ((since: Date) => AsyncIterable<ListedEvent>) | null;
  /**
   * Whether it has disabled our webhook endpoint, or has none; `null`: not asked, as its events stay listed
   * meanwhile.
   */
  isEndpointDisabled: (() => Promise<boolean>) | null;
  /** A page of all subscriptions, ended ones too, from a position on. @param position `null`: the first page */
  listSubscriptionPage(position: string | null, options: SubscriptionListOptions): Promise<SubscriptionPage>;
  /** A page of its customers; `null`: not supported. */
  listCustomerPage: ((position: string | null) => Promise<CustomerPage>) | null;
  /** A customer's subscriptions, for a purchase whose event named none. */
  findSubscriptions(customer: { userId: string | null; customerId: string }): Promise<PaymentEvent[]>;
  /** Its payments, in no particular order; unreadable ones are left out. */
  listPayments(selection: PaymentSelection): AsyncIterable<PaymentState>;
  /** `null`: the provider has no such payment. */
  fetchPayment(providerPaymentId: string): Promise<PaymentState | null>;
  /** Whether a product or price with this id exists. */
  knowsPrice(priceId: string): Promise<boolean>;
  /** Whether the key moves no money; `null`: not asked, as the key or the API URL shows it. */
  isInTestMode: (() => Promise<boolean>) | null;
};

export type PaymentSelection = {
  /** At least those created since then, and those refunded since whose events may be lost; `null`: all. */
  since: Date | null;
  /** Only those of this subscription; `null`: all. */
  providerSubscriptionId: string | null;
};

export type SubscriptionListOptions = {
  /** Whether the customers' addresses are wanted: some providers have to be asked for them. */
  withEmails: boolean;
  /** Those that have not changed since may be left out; `null`: none. */
  changedSince: Date | null;
};

export type SubscriptionPage = {
  subscriptions: readonly ListedSubscription[];
  /** Where the next page begins; `null`: this was the last one. */
  next: string | null;
};

export type ListedSubscription = {
  providerSubscriptionId: string | null;
  /** As `fetchSubscription` returns it; `null`: unreadable, see `problem`. */
  state: PaymentEvent | null;
  problem: string | null;
  /** The customer's address, with `withEmails`. */
  email: string | null;
};

export type CustomerPage = { customers: readonly ListedCustomer[]; next: string | null };

type ListedCustomer = {
  id: string;
  email: string | null;
  name: string | null;
  locale: string | null;
  /** From its metadata. */
  userId: string | null;
};

export type CheckoutOrder = {
  /** Idempotency key: with the same key the provider opens one checkout, where supported. */
  idempotencyKey: string;
  priceId: string;
  seats: number;
  userId: string;
  planId: string;
  email: string;
  /** Whether the person has confirmed the address. */
  isEmailConfirmed: boolean;
  /** The provider's id of the person, if known. */
  customerId: string | null;
  /** The return URL, after payment or not. */
  successUrl: string;
  cancelUrl: string;
  /**
   * A free trial at the start, in days; 0: none, where the provider can skip that of its price. `null`: as
   * the price at the provider has it.
   */
  trialDays: number | null;
};

export type ChangeOrder = {
  when: "now" | "period_end";
  /** `null`: the price or the number of seats stays. */
  priceId: string | null;
  seats: number | null;
  /** The price that is paid now, where known. */
  currentPriceId: string | null;
  /** Both after the change: some providers require the complete state. */
  resultingPriceId: string;
  resultingSeats: number;
};

/** What is paid from then on. */
export type WaitingChange = { priceId: string; seats: number; at: Date };

export type ChangePreview = {
  /** In the currency's smallest unit; negative: a credit. */
  amountDue: number;
  /** ISO 4217, upper case. */
  currency: string;
  at: Date;
};

export type OpenedCheckout = {
  id: string;
  url: string;
  /** `null`: the provider does not say. */
  expiresAt: Date | null;
};

export type ClosingCheckout = {
  id: string;
  /** By person or address some providers find the subscription that it has become. */
  userId: string;
  email: string;
};

/**
 * `closed`: can no longer be paid. `open`: still can, as the provider cannot close it, or may have been, as it does not
 * say. `paid`: too late; the subscription is `null` until the provider reports its id.
 */
export type CheckoutEnd =
  | { status: "closed" | "open" }
  | { status: "paid"; providerSubscriptionId: string | null };

export type PayingCustomer = {
  userId: string;
  email: string;
  /** Whether the person has confirmed the address. */
  isEmailConfirmed: boolean;
  customerId: string | null;
  providerSubscriptionId: string | null;
  /** All the person's subscriptions at this provider. */
  ownSubscriptionIds: readonly string[];
  returnUrl: string;
};

/** An event as the provider would have delivered it: `rawBody` is the JSON that its webhook would carry. */
export type ListedEvent = {
  eventId: string;
  eventType: string;
  rawBody: Buffer;
  /** Headers that a delivery would have, by lower-case name. */
  headers: Readonly<Record<string, string>>;
};
