import { randomBytes } from "node:crypto";
import type { Slot } from "../../domain/slot.ts";
import type { WireFormat } from "../../providers/adapter.ts";
import type { CorruptionKind } from "../delivery/corruption.ts";
import type { Coupon, PromotionCode, Redemption } from "../lifecycle/coupon.ts";
import type { Discount } from "../lifecycle/discount.ts";
import type { Offer } from "../lifecycle/offer.ts";
import type { Reversal } from "../lifecycle/reversal.ts";
import type { BillingState } from "../lifecycle/subscription.ts";
import type { CustomData, EventContext, PaidCheckout, SubscriptionIds } from "../renderer.ts";

/** The provider's whole state as JSON, which survives a restart. Times are by the provider's own clock. */
export type SimulatorState = {
  version: 3;
  /** How far the provider's clock is ahead of the machine's. */
  aheadMs: number;
  slots: Record<Slot, SlotState>;
};

export type SlotState = {
  format: WireFormat;
  /** Part of every generated id, so that a new state never repeats an old one's. */
  run: string;
  made: number;
  /**
   * The secret configured at the last start: a secret rotated since then lasts until the configuration
   * changes.
   */
  givenSecret: string;
  secret: string;
  /** Signs the portal's links. */
  portalKey: string;
  checkouts: Checkout[];
  customers: Customer[];
  subscriptions: SimulatedSubscription[];
  payments: SimulatedPayment[];
  coupons: Coupon[];
  promotionCodes: PromotionCode[];
  redemptions: Redemption[];
  events: QueuedEvent[];
  /** The total number so far, including dropped ones. */
  eventCount: number;
  endpoint: { isDisabled: boolean; exhaustedInARow: number };
  faults: Record<FaultKind, Fault>;
  remembered: RememberedAnswer[];
};

export type Checkout = {
  id: string;
  status: "open" | "complete" | "expired";
  offer: Offer;
  seats: number;
  /** The trial that the seller ordered, in days. */
  trialDays?: number;
  data: CustomData;
  subscriptionData: CustomData;
  email: string | null;
  customerId: string | null;
  /** The seller's own id of the customer, in formats that have one. */
  externalId: string | null;
  successUrl: string | null;
  cancelUrl: string | null;
  /** What reduces its price; counted as redeemed once it is paid. */
  discount?: Discount | null;
  /** Whether the customer can enter a code; `null`: not given. */
  allowPromotionCodes?: boolean | null;
  createdAtSeconds: number;
  /** `null`: never. */
  expiresAtSeconds: number | null;
  /** Both `null` until paid. */
  completedAtSeconds: number | null;
  subscriptionId: string | null;
};

export type Customer = {
  id: string;
  email: string;
  externalId: string | null;
  createdAtSeconds: number;
  name?: string | null;
  /** The seller's own. */
  data: CustomData;
};

/** A subscription with its next change. */
export type SimulatedSubscription = BillingState & {
  ids: SubscriptionIds;
  bought: Offer;
  startedAtSeconds: number;
  checkout: Omit<PaidCheckout, "portalUrl">;
  /** The position of the event of the renewal's first failed charge; `null` or absent: it is paid. */
  failedAt?: number | null;
  /** The last event, and the number of events so far. */
  lastEvent: Omit<EventContext["step"], "state">;
  eventCount: number;
};

/** A payment, with what its last event was rendered from; `at` is the position of its first. */
export type SimulatedPayment = Pick<EventContext, "at"> &
  EventContext["step"] & {
    id: string;
    subscriptionId: string;
    reversals: Reversal[];
  };

export const FAULT_KINDS = ["duplicate", "delay", "reorder", "drop", "corrupt"] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** Affects the next `next` events for certain, and later ones with probability `share`. */
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
  /** For the next attempt alone. */
  corruption: CorruptionKind | null;
  /** Additional deliveries to send. */
  copies: number;
  /** Lets a later event be delivered first. */
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
    payments: [],
    coupons: [],
    promotionCodes: [],
    redemptions: [],
    events: [],
    eventCount: 0,
    endpoint: { isDisabled: false, exhaustedInARow: 0 },
    faults: Object.fromEntries(FAULT_KINDS.map((kind) => [kind, { next: 0, share: 0 }])) as Record<
      FaultKind,
      Fault
    >,
    remembered: [],
  };
}
