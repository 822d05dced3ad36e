import type { DeliveryPolicy } from "./delivery/policy.ts";
import type { ChangeBilling } from "./lifecycle/prorations.ts";
import type { Dunning, EmittedEvent } from "./lifecycle/subscription.ts";

/** Differences between the simulated providers besides formats and routes. */
export type SimulatorTraits = {
  delivery: DeliveryPolicy;
  dunning: Dunning;
  /** The time resolution of its events. */
  clockStepSeconds: number;
  /** Whether several events of a subscription can carry the same time. */
  repeatsEventTimes: boolean;
  /** The header that carries the signature, in lower case. */
  signatureHeader: string;
  /** Without a signed timestamp, an old delivery cannot be told from a new one. */
  signsTimestamp: boolean;
  newCheckoutId(): string;
  /** How long a checkout can be paid by default; `null`: for ever. */
  checkoutLifetimeSeconds: number | null;
  /** How long a link to the customer portal can be opened. */
  portalLifetimeSeconds: number;
  /** How a change of plan or seats in the customer portal is charged. */
  portalBilling: ChangeBilling;
  /** Whether a checkout without a customer reuses the customer with the same address. */
  findsCustomersByEmail: boolean;
  /** Whether payers can leave the customer that the seller chose, unless the seller's page forbids it. */
  letsPayersLogOut: boolean;
  /**
   * Whether seats can change during a trial: where events have no quantity then, the change would be
   * invisible.
   */
  changesSeatsInTrial: boolean;
  /** The events of a paid checkout, in the provider's order. */
  checkoutEvents: readonly EmittedEvent[];
  /** Whether a dispute is reported, is only listed, or is refunded by the provider on the seller's behalf. */
  disputes: "reported" | "listed" | "refunded";
  /** Whether a customer with a running subscription cannot buy another one. */
  onePerCustomer: boolean;
};
