import type { AccessFacts } from "./access.ts";
import {
  type Entitlements,
  entitlementsOf,
  type QuotaUsage,
  type ShownEntitlements,
  type Subscribed,
  showEntitlements,
} from "./entitlements.ts";
import type { PlanCatalog } from "./plan.ts";
import type { WrittenFacts } from "./user-changes.ts";

/** A change as stored in its transaction, JSON: what the user's entitlements are made of, and what has changed of it. */
export type StoredChange = {
  /** After the transaction, the newest first. */
  subscriptions: Stored<Subscribed & { id: string }>[];
  usage: QuotaUsage[] | null;
  replaced?: { id: string; before: Stored<WrittenFacts> | null; after: Stored<WrittenFacts> | null }[];
  reversals?: { id: string; before: Reversal; after: Reversal }[];
  /** ISO 8601. Nothing was written, a time has passed: the entitlements changed then. */
  changedAt?: string;
};

type Reversal = AccessFacts["paymentReversal"];

type Stored<Facts> = { [Key in keyof Facts]: Facts[Key] extends Date | null ? string | null : Facts[Key] };

/** What the user's entitlements are made of, read later than the change. */
export type CurrentFacts = { subscriptions: readonly Subscribed[]; usage: readonly QuotaUsage[] };

/**
 * The entitlements after a change, or `null` when they are what they were.
 * @param current replaces the state after the change: transactions of one user's subscriptions do not see each other
 * @param at when it was written
 */
export function changedEntitlements(
  stored: StoredChange,
  current: CurrentFacts | null,
  plans: Pick<PlanCatalog, "plans">,
  at: Date,
): ShownEntitlements | null {
  const beforeAt = stored.changedAt === undefined ? at : new Date(Date.parse(stored.changedAt) - 1);
  const before = entitlementsOf(factsAt(stored, "before", beforeAt), plans, beforeAt);
  const after = entitlementsOf(current?.subscriptions ?? factsAt(stored, "after", at), plans, at);
  if (comparable(before) === comparable(after)) return null;
  return showEntitlements(after, current?.usage ?? stored.usage ?? []);
}

function comparable({ planId, status, until, features }: Entitlements): string {
  const granted = [...features].map(([id, { kind, value, resetsAt }]) => [
    id,
    value,
    // What is left of a quota changes with its period.
    kind === "quota" && value !== 0 ? resetsAt : null,
  ]);
  return JSON.stringify([planId, status, until, granted]);
}

function factsAt(stored: StoredChange, when: "before" | "after", at: Date): Subscribed[] {
  const reversals = new Map(stored.reversals?.map((reversal) => [reversal.id, reversal[when]]));
  const replaced = new Map(stored.replaced?.map((replacement) => [replacement.id, replacement[when]]));
  const listed = new Set(stored.subscriptions.map(({ id }) => id));
  const left = [...replaced].flatMap(([id, facts]) =>
    facts && !listed.has(id) ? [{ ...facts, id, pastDueSince: null, paymentReversal: null }] : [],
  );
  const known = stored.subscriptions.flatMap((subscription) => {
    const facts = replaced.get(subscription.id);
    if (facts === null) return [];
    const { paymentReversal } = subscription;
    return [
      {
        ...subscription,
        ...facts,
        paymentReversal: reversals.has(subscription.id)
          ? (reversals.get(subscription.id) ?? null)
          : paymentReversal,
      },
    ];
  });
  return [...left, ...known].flatMap(({ status, ...one }) => {
    if (status === "canceled") return [];
    const since = one.pastDueSince === null ? at : new Date(one.pastDueSince);
    return [
      {
        ...{ planId: one.planId, status, cancelAtPeriodEnd: one.cancelAtPeriodEnd },
        currentPeriodEnd: one.currentPeriodEnd === null ? null : new Date(one.currentPeriodEnd),
        pastDueSince: status === "past_due" ? since : null,
        paymentReversal: one.paymentReversal,
      },
    ];
  });
}
