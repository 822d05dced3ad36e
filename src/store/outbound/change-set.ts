import { deflateSync, inflateSync } from "node:zlib";
import type { OwnedFacts } from "../../domain/entitlements/user-changes.ts";
import {
  type EventSubscription,
  SUBSCRIPTION_EVENT_TYPES,
  type SubscriptionEventType,
} from "../../domain/outbound/outbound-event.ts";
import { SLOTS, type Slot } from "../../domain/slot.ts";
import {
  SUBSCRIPTION_STATUSES,
  type SubscriptionStatus,
} from "../../domain/subscriptions/subscription-status.ts";

/** A change as it waits for the relay. */
export type RecordedChange = {
  /** `null`: only the user has changed, by a server of an earlier commit. */
  type: SubscriptionEventType | null;
  before: OwnedFacts | null;
  after: EventSubscription;
};

/** Times in milliseconds since 1970. */
type Before = [
  userId: string | null,
  planId: string,
  status: SubscriptionStatus,
  currentPeriodEnd: number | null,
  cancelAtPeriodEnd: boolean,
];

type Stored = [
  subscriptionId: string,
  type: SubscriptionEventType | null,
  userId: string | null,
  provider: Slot,
  providerSubscriptionId: string | null,
  planId: string,
  seats: number,
  status: SubscriptionStatus,
  currentPeriodEnd: number | null,
  cancelAtPeriodEnd: boolean,
  outOfOrder: boolean,
  before: Before | null,
];

/**
 * Up to this size PostgreSQL keeps the value in the row itself, without TOAST, and compression would cost
 * more than it saves.
 */
const MAX_PLAIN_BYTES = 1_500;

export function encodeChanges(changes: readonly RecordedChange[]): Buffer {
  const json = Buffer.from(JSON.stringify(changes.map(stored)));
  return json.length > MAX_PLAIN_BYTES ? deflateSync(json, { level: 1 }) : json;
}

const BRACKET = 0x5b;

/** @throws Error not changes as this release writes them: corrupted, or written by a later one */
export function decodeChanges(encoded: Buffer): RecordedChange[] {
  // No zlib stream begins with it.
  const json = encoded[0] === BRACKET ? encoded : inflateSync(encoded);
  const changes: unknown = JSON.parse(json.toString());
  if (!Array.isArray(changes) || !changes.every(isStored))
    throw new Error("these are no changes as this release writes them");
  return changes.map(recorded);
}

function stored({ type, before, after }: RecordedChange): Stored {
  return [
    after.id,
    type,
    after.userId,
    after.provider,
    after.providerSubscriptionId,
    after.planId,
    after.seats,
    after.status,
    after.currentPeriodEnd?.getTime() ?? null,
    after.cancelAtPeriodEnd,
    after.outOfOrder,
    before && [
      before.userId,
      before.planId,
      before.status,
      before.currentPeriodEnd?.getTime() ?? null,
      before.cancelAtPeriodEnd,
    ],
  ];
}

const TYPES: ReadonlySet<unknown> = new Set([...SUBSCRIPTION_EVENT_TYPES, null]);
const STATUSES: ReadonlySet<unknown> = new Set(SUBSCRIPTION_STATUSES);
const PROVIDERS: ReadonlySet<unknown> = new Set(SLOTS);

function isStored(change: unknown): change is Stored {
  // A later release may append fields: the ones before keep their meaning.
  if (!Array.isArray(change) || change.length < 12) return false;
  const [id, type, userId, provider, providerSubscriptionId, planId, seats, status, ...others] = change;
  const [periodEndMs, cancelAtPeriodEnd, outOfOrder, before] = others;
  return (
    typeof id === "string" &&
    TYPES.has(type) &&
    isNullOr("string", userId) &&
    PROVIDERS.has(provider) &&
    isNullOr("string", providerSubscriptionId) &&
    typeof planId === "string" &&
    typeof seats === "number" &&
    STATUSES.has(status) &&
    isNullOr("number", periodEndMs) &&
    typeof cancelAtPeriodEnd === "boolean" &&
    typeof outOfOrder === "boolean" &&
    (before === null || isBefore(before))
  );
}

function isBefore(before: unknown): before is Before {
  if (!Array.isArray(before) || before.length < 5) return false;
  const [userId, planId, status, periodEndMs, cancelAtPeriodEnd] = before;
  return (
    isNullOr("string", userId) &&
    typeof planId === "string" &&
    STATUSES.has(status) &&
    isNullOr("number", periodEndMs) &&
    typeof cancelAtPeriodEnd === "boolean"
  );
}

function isNullOr(type: "string" | "number", value: unknown): boolean {
  return value === null || typeof value === type;
}

function recorded(change: Stored): RecordedChange {
  const [id, type, userId, provider, providerSubscriptionId, planId, seats, status, ...others] = change;
  const [periodEndMs, cancelAtPeriodEnd, outOfOrder, before] = others;
  const currentPeriodEnd = dateOf(periodEndMs);
  return {
    type,
    before: before && factsBefore(before),
    after: {
      id,
      userId,
      provider,
      providerSubscriptionId,
      planId,
      seats,
      status,
      currentPeriodEnd,
      cancelAtPeriodEnd,
      outOfOrder,
    },
  };
}

function factsBefore([userId, planId, status, periodEndMs, cancelAtPeriodEnd]: Before): OwnedFacts {
  return { userId, planId, status, currentPeriodEnd: dateOf(periodEndMs), cancelAtPeriodEnd };
}

function dateOf(ms: number | null): Date | null {
  // Those of `outbound_change` are seconds that PostgreSQL has multiplied: just below, at times.
  return ms === null ? null : new Date(Math.round(ms));
}
