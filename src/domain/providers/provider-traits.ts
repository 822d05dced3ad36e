/** What differs between providers besides field names and requests. Nothing here loads a provider's SDK. */
export type ProviderTraits = {
  /** The display name: "Lemon Squeezy". */
  name: string;
  /** The default API URL, without a trailing slash. */
  productionUrl: string;
  apiKey: ApiKeyTraits;
  /** A well-formed id of no existing subscription: requesting it tests a key. */
  unknownSubscriptionId: string;
  /** An event without effects, in the provider's format. */
  inertEvent(event: { eventId: string; eventType: string; at: Date }): object;
  /** The field by which an event of the provider's test mode says so; `null`: none. */
  testEventMark: { field: string; value: boolean } | null;
  /** Failed processing is answered 200 once stored: the provider disables endpoints that return errors. */
  acknowledgesFailures: boolean;
  /**
   * Whether events are stored as pending before they are applied: for a provider with so few retries that an
   * event must survive a crash by itself.
   */
  claimsFirst: boolean;
  /** Whether customers can be imported as users. */
  listsCustomers: boolean;
  /** Whether the API lists sent events. */
  listsEvents: boolean;
  /**
   * Makes no events at all while it has disabled our endpoint: they are not in its list afterwards either.
   */
  losesEventsWhileDisabled: boolean;
  /**
   * Whether the period of a subscription that is past due ends, as it is reported, with the next attempt to
   * charge.
   */
  pastDuePeriodEndsAtNextCharge: boolean;
  /** Whether a change of plan or seats can wait for the end of the paid period. */
  changesAtPeriodEnd: boolean;
  /** Whether plan and seats can be changed while a cancellation is scheduled; else it is withdrawn first. */
  changesWhileEnding: boolean;
  /** Whether plan and seats can be changed while a renewal is unpaid; else it is paid first. */
  changesWhilePastDue: boolean;
  /** Whether the number of seats can be changed during a trial. */
  changesSeatsInTrial: boolean;
  /** Whether buyers can write the metadata of what they buy, and so name a plan in it. */
  buyersWriteMetadata: boolean;
  checkout: CheckoutTraits;
  /** The documented rate limit at an API URL; `null`: unlimited. */
  requestLimit(apiUrl: string): RequestLimit | null;
};

type ApiKeyTraits = {
  /** What its keys are and where one is found, to follow "Set ... to". */
  hint: string;
  /** Known key prefixes; empty: no common prefix. */
  prefixes: readonly string[];
  /** Prefixes of keys that move no money; empty: a key does not show it. */
  testPrefixes: readonly string[];
  /** The default lifetime of a key; `null`: it does not expire. */
  lifetimeDays: number | null;
  /** A key's expiry, where the key contains it. */
  expiresAt(key: string): Date | null;
};

type CheckoutTraits = {
  /** Whether an open checkout can be changed to another order, so that a second one is not needed. */
  canBeUpdated: boolean;
  /** Whether a checkout takes a number of trial days; else a trial belongs to the provider's price. */
  takesTrialDays: boolean;
};

export type RequestLimit = { requests: number; perSeconds: number };
