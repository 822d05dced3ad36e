import { randomBytes } from "node:crypto";
import type { Slot } from "../../domain/slot.ts";
import type { WireFormat } from "../../providers/adapter.ts";
import type { CorruptionKind } from "../delivery/corruption.ts";
import type { Offer } from "../lifecycle/offer.ts";
import type { BillingState } from "../lifecycle/subscription.ts";
import type { CustomData, EventContext, PaidCheckout, SubscriptionIds } from "../renderer.ts";

/** Everything the provider knows; it is JSON, and survives a restart. Times are by the provider's own clock. */
export type SimulatorState = {
  version: 3;
  /** How far the provider's clock is ahead of the machine's. */
  aheadMs: number;
  slots: Record<Slot, SlotState>;
};

export type SlotState = {
  format: WireFormat;
  /** Part of every name that is made here, so that a new state never repeats an old one's. */
  run: string;
  made: number;
  /** The secret that the last start gave; as long as it gives no other, the one in use stays. */
  givenSecret: string;
  secret: string;
  /** Signs the portal's links. */
  portalKey: string;
  checkouts: Checkout[];
  customers: Customer[];
  subscriptions: SimulatedSubscription[];
  events: QueuedEvent[];
  /** How many there have been, those forgotten included. */
  eventCount: number;
  endpoint: { isDisabled: boolean; exhaustedInARow: number };
  faults: Record<FaultKind, Fault>;
  remembered: RememberedAnswer[];
  /** The ids of the subscriptions whose latest payment was refunded. */
  refunds: string[];
};

export type Checkout = {
  id: string;
  status: "open" | "complete" | "expired";
  offer: Offer;
  seats: number;
  data: CustomData;
  subscriptionData: CustomData;
  email: string | null;
  customerId: string | null;
  /** The customer's id in the seller's own books, in formats that know one. */
  externalId: string | null;
  successUrl: string | null;
  cancelUrl: string | null;
  createdAtSeconds: number;
  /** `null`: until it is paid. */
  expiresAtSeconds: number | null;
  completedAtSeconds: number | null;
  subscriptionId: string | null;
};

export type Customer = { id: string; email: string; externalId: string | null; createdAtSeconds: number };

/** A subscription, and what it does next. */
export type SimulatedSubscription = BillingState & {
  ids: SubscriptionIds;
  bought: Offer;
  startedAtSeconds: number;
  checkout: Omit<PaidCheckout, "portalUrl">;
  /** What happened last, and how many events there have been. */
  lastEvent: Omit<EventContext["step"], "state">;
  eventCount: number;
};

export const FAULT_KINDS = ["duplicate", "delay", "reorder", "drop", "corrupt"] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** Hits the next so many events for sure, and the others with this chance. */
export type Fault = { next: number; share: number };

/** An event on its way to the endpoint. */
export type QueuedEvent = {
  /** In the order of the slot's events, from 1. */
  number: number;
  eventId: string;
  eventType: string;
  subscriptionId: string;
  rawBody: string;
  madeAtMs: number;
  dueAtMs: number;
  status: "waiting" | "delivered" | "given up" | "dropped" | "skipped";
  fault: FaultKind | null;
  /** For the next try alone. */
  corruption: CorruptionKind | null;
  /** Deliveries wanted besides the one. */
  copies: number;
  /** Lets a later one pass first. */
  isHeldBack: boolean;
  failures: number;
  tries: Try[];
};

/** By the machine's clock. */
type Try = { atMs: number; tookMs: number; outcome: string; wasTaken: boolean };

type RememberedAnswer = { key: string; request: string; status: number; body: string };

export function blankSlot(format: WireFormat, secret: string): SlotState {
  return {
    format,
    run: randomBytes(4).toString("hex"),
    made: 0,
    givenSecret: secret,
    secret,
    portalKey: randomBytes(24).toString("base64url"),
    checkouts: [],
    customers: [],
    subscriptions: [],
    events: [],
    eventCount: 0,
    endpoint: { isDisabled: false, exhaustedInARow: 0 },
    faults: Object.fromEntries(FAULT_KINDS.map((kind) => [kind, { next: 0, share: 0 }])) as Record<
      FaultKind,
      Fault
    >,
    remembered: [],
    refunds: [],
  };
}
