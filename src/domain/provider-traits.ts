import type { SubscriptionStatus } from "./subscription-status.ts";

/** What differs between providers besides field names and requests. Nothing here loads a provider's SDK. */
export type ProviderTraits = {
  /** As people know it: "Lemon Squeezy". */
  name: string;
  /** Where its API is unless the slot says otherwise, without a slash at the end. */
  productionUrl: string;
  apiKey: ApiKeyTraits;
  /** An id of the provider's form that no subscription has: asking for it tests a key. */
  unknownSubscriptionId: string;
  /** An event that has no effects, as the provider would word it. */
  inertEvent(event: { eventId: string; eventType: string; at: Date }): object;
  /** Failed processing is answered 200 once the failure is stored: the provider disables endpoints that fail. */
  acknowledgesFailures: boolean;
  /**
   * Whether events are stored, as pending, before they are applied: for a provider that sends an event so few times that it must
   * survive a crash of this process without being sent again.
   */
  claimsFirst: boolean;
  /** After these only a newer event changes the subscription. */
  terminalStatuses: ReadonlySet<SubscriptionStatus>;
  /** Whether it lists the events it has sent. */
  listsEvents: boolean;
  /** Whether the API ends a subscription at once; else with the paid period. */
  cancelsAtOnce: boolean;
  checkout: CheckoutTraits;
  /** How many requests its documentation allows at an address of its API; `null`: as many as one likes. */
  requestLimit(apiUrl: string): RequestLimit | null;
};

type ApiKeyTraits = {
  /** What its keys are and where one is found, to follow "Set ... to". */
  hint: string;
  /** With which its keys begin; empty: they have no common beginning. */
  prefixes: readonly string[];
  /** How long a key lives unless its owner chose otherwise; `null`: it does not expire. */
  lifetimeDays: number | null;
  /** When this key expires, where the key itself says so. */
  expiresAt(key: string): Date | null;
};

type CheckoutTraits = {
  /** Whether an open checkout can be changed to another order, so that a second one is not needed. */
  canBeUpdated: boolean;
  /** Whether the provider refuses a second subscription of the same customer. */
  onePerCustomer: boolean;
};

export type RequestLimit = { requests: number; perSeconds: number };
