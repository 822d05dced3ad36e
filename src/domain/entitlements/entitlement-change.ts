import type { PaymentReversal } from "./access.ts";
import { entitlementsIfChanged } from "./entitlements.ts";
import { type AccessContext, type PlanAccessFacts, withoutRepeated } from "./granted-access.ts";
import { type QuotaUsage, type ShownEntitlements, showEntitlements } from "./shown-entitlements.ts";
import type { ReplacedSubscription, WrittenFacts } from "./user-changes.ts";

/** A change as stored in its transaction; dates of JSON are ISO 8601. */
export type StoredChange = {
  /** Subscriptions just before and after the change; `null`: then there was none of this user. */
  replaced?: (Omit<ReplacedSubscription, "before" | "after"> & {
    before: Stored<WrittenFacts> | null;
    after: Stored<WrittenFacts> | null;
  })[];
  reversals?: { id: string; before: PaymentReversal | null; after: PaymentReversal | null }[];
  /** The user's subscriptions after the transaction, the newest first; absent if they were not read. */
  subscriptions?: Stored<KnownSubscription>[];
  usage?: QuotaUsage[] | null;
  /** ISO 8601. Set for a change by the passage of time alone, when nothing was written. */
  changedAt?: string;
};

type KnownSubscription = PlanAccessFacts & { id: string };

type Stored<Facts> = {
  [Key in keyof Facts]: Facts[Key] extends Date | null ? Date | string | null : Facts[Key];
};

/**
 * The facts behind the user's entitlements, read after the changes, including subscriptions that these have
 * ended.
 */
export type CurrentFacts = {
  subscriptions: readonly KnownSubscription[];
  usage: readonly QuotaUsage[];
};

type DatedChange = { change: StoredChange; writtenAt: Date };

/**
 * The entitlements after each change of one user, or `null` if they did not change. Computed backwards from
 * the current state: transactions that change subscriptions of one user do not see each other.
 * @param changes in order
 */
export function changedEntitlements(
  changes: readonly DatedChange[],
  current: CurrentFacts,
  context: AccessContext,
): (ShownEntitlements | null)[] {
  const results: (ShownEntitlements | null)[] = [];
  const ids = new Set(changes.flatMap(({ change }) => changedIds(change)));
  // Some people have thousands, and each change would go through all of them.
  let later = withoutRepeated(current.subscriptions, context, ({ id }) => ids.has(id));
  for (const { change, writtenAt } of [...changes].reverse()) {
    const isLast = results.length === 0;
    const stored = change.subscriptions?.map((subscription) => withDates(subscription, writtenAt));
    const after = stateAt("after", change, isLast ? later : (stored ?? later), writtenAt);
    later = stateAt("before", change, later, writtenAt);
    const before = stored === undefined ? later : stateAt("before", change, stored, writtenAt);
    const beforeAt = change.changedAt === undefined ? writtenAt : new Date(Date.parse(change.changedAt) - 1);
    const changed = entitlementsIfChanged(
      [before.filter(hasNotEnded), beforeAt],
      [after.filter(hasNotEnded), writtenAt],
      context,
    );
    results.push(changed && showEntitlements(changed, current.usage));
  }
  return results.reverse();
}

function changedIds({ replaced = [], reversals = [] }: StoredChange): string[] {
  return [...replaced, ...reversals].map(({ id }) => id);
}

function hasNotEnded({ status }: KnownSubscription): boolean {
  return status !== "canceled";
}

/** The subscriptions just before or after a change, given those after it. */
function stateAt(
  when: "before" | "after",
  { replaced = [], reversals = [] }: StoredChange,
  later: readonly KnownSubscription[],
  writtenAt: Date,
): KnownSubscription[] {
  let state = [...later];
  for (const { id, provider, [when]: facts } of replaced) {
    const before = state.find((subscription) => subscription.id === id);
    if (facts === null) {
      state = state.filter((subscription) => subscription !== before);
      continue;
    }
    const pastDueSince = facts.status === "past_due" ? (before?.pastDueSince ?? writtenAt) : null;
    const { paymentReversal = null, priceId = null } = before ?? {};
    const { planId, status, cancelAtPeriodEnd } = facts;
    const currentPeriodEnd = dateOf(facts.currentPeriodEnd);
    const changed = {
      id,
      provider,
      planId,
      status,
      cancelAtPeriodEnd,
      currentPeriodEnd,
      priceId,
      pastDueSince,
      paymentReversal,
    };
    state = before
      ? state.map((subscription) => (subscription === before ? changed : subscription))
      : [changed, ...state];
  }
  for (const { id, [when]: paymentReversal } of reversals) {
    state = state.map((subscription) =>
      subscription.id === id ? { ...subscription, paymentReversal } : subscription,
    );
  }
  return state;
}

function withDates(stored: Stored<KnownSubscription>, writtenAt: Date): KnownSubscription {
  const pastDueSince = stored.status === "past_due" ? (dateOf(stored.pastDueSince) ?? writtenAt) : null;
  return { ...stored, currentPeriodEnd: dateOf(stored.currentPeriodEnd), pastDueSince };
}

function dateOf(time: Date | string | null): Date | null {
  return time === null ? null : new Date(time);
}
