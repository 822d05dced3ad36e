import type { DeliveryPolicy } from "./delivery/policy.ts";
import type { Dunning, EmittedEvent } from "./lifecycle/subscription.ts";

/** What differs between the providers that are played, besides their formats and calls. */
export type SimulatorTraits = {
  delivery: DeliveryPolicy;
  dunning: Dunning;
  /** The smallest step of time that its events can express. */
  clockStepSeconds: number;
  /** Whether several events of a subscription can carry the same time. */
  repeatsEventTimes: boolean;
  /** The header that carries the signature, in lower case. */
  signatureHeader: string;
  /** Without a signed timestamp, an old delivery cannot be told from a new one. */
  signsTimestamp: boolean;
  newCheckoutId(): string;
  /** For how long a checkout can be paid unless its order says otherwise; `null`: for ever. */
  checkoutLifetimeSeconds: number | null;
  /** Whether a checkout without a customer finds the customer who has the address. */
  findsCustomersByEmail: boolean;
  /** Whether seats can be changed during a trial: where no quantity is reported then, nobody would learn of it. */
  changesSeatsInTrial: boolean;
  /** The events of a paid checkout, in the provider's order. */
  checkoutEvents: readonly EmittedEvent[];
  /** Whether a customer with a running subscription cannot pay for another one. */
  onePerCustomer: boolean;
};
