import { randomUUID } from "node:crypto";
import { failureSentence } from "../domain/deliveries/failures.ts";
import { decide } from "../domain/events/decide.ts";
import type { PaymentEvent } from "../domain/events/payment-event.ts";
import { type Notification, notificationsFor } from "../domain/notifications/notification.ts";
import { type SubscriptionChange, subscriptionChange } from "../domain/outbound/subscription-change.ts";
import type { PlanCatalog } from "../domain/plans/plan.ts";
import type { Slot } from "../domain/slot.ts";
import { type Changes, changesOf } from "../domain/subscriptions/changes.ts";
import { isFirstLink, type Subscription } from "../domain/subscriptions/subscription.ts";
import type { ResolvedUsers } from "./resolve-users.ts";
import type { ImportReport, Unmatched } from "./run-import.ts";
import type { SubscriptionRow } from "./subscription-row.ts";

export type DecidedPage = {
  report: ImportReport;
  created: Subscription[];
  updated: Subscription[];
  changes: { subscriptionId: string; changes: Changes }[];
  notifications: Notification[];
  subscriptionChanges: SubscriptionChange[];
  /** Ids of known subscriptions that were linked to their payments. */
  linked: string[];
  /** Ids of subscriptions that an event has changed about when the source was read. */
  contested: string[];
};

type PageContext = { locked: readonly Subscription[]; users: ResolvedUsers; plans: PlanCatalog };

/** Providers' clocks are coarse, and not ours. */
const CLOCK_MARGIN_MICROS = 2_000_000;

/** What the rows of a page do to the subscriptions known, one after another. Pure. */
export function decidePage(
  slot: Slot,
  rows: readonly SubscriptionRow[],
  { locked, users, plans }: PageContext,
): DecidedPage {
  const subscriptions = new Map(locked.map((subscription) => [subscription.id, subscription]));
  const page: DecidedPage = {
    report: { created: 0, updated: 0, skipped: 0, unmatched: [] },
    created: [],
    updated: [],
    changes: [],
    notifications: [],
    subscriptionChanges: [],
    linked: [],
    contested: [],
  };
  for (const row of rows) {
    const outcome = decideRow(slot, row, { subscriptions: [...subscriptions.values()], users, plans });
    switch (outcome.outcome) {
      case "left out":
        page.report.unmatched.push(unmatchedRow(row, outcome.reason));
        break;
      case "same":
      case "contested":
        page.report.skipped += 1;
        if (outcome.outcome === "contested") page.contested.push(outcome.id);
        break;
      case "changed":
        record(page, subscriptions, outcome);
        break;
      default:
        outcome satisfies never;
    }
  }
  return page;
}

type RowOutcome =
  | { outcome: "left out"; reason: string }
  | { outcome: "same" }
  | { outcome: "contested"; id: string }
  | { outcome: "changed"; before: Subscription | null; after: Subscription };

function decideRow(
  slot: Slot,
  row: SubscriptionRow,
  {
    subscriptions,
    users,
    plans,
  }: { subscriptions: readonly Subscription[]; users: ResolvedUsers; plans: PlanCatalog },
): RowOutcome {
  const { state, problem, readAtMicros } = row;
  if (state === null) return { outcome: "left out", reason: problem ?? "it cannot be read" };
  if (state.providerSubscriptionId === null)
    return { outcome: "left out", reason: "it has no subscription id" };
  const ours = subscriptions.find(
    (subscription) =>
      subscription.provider === slot && subscription.providerSubscriptionId === state.providerSubscriptionId,
  );
  if (ours !== undefined && isNewer(ours, readAtMicros)) return { outcome: "contested", id: ours.id };
  const event: PaymentEvent = { ...state, userId: ours === undefined ? users.userOf(row) : null };
  const decision = decide(slot, event, {
    subscriptions,
    userState: (id) => users.states.get(id) ?? "unknown",
    confirmedEmail: (id) => users.confirmedEmails.get(id) ?? null,
    plans,
    newId: randomUUID,
    nowMicros: Date.now() * 1000,
  });
  if (decision.outcome === "failed")
    return { outcome: "left out", reason: failureSentence(decision.failure) };
  if (decision.outcome === "ignored") return { outcome: "left out", reason: "user: the account was deleted" };
  const { subscription } = decision;
  const before = subscriptions.find(({ id }) => id === subscription.id) ?? null;
  const after = { ...subscription, comparedAtMicros: readAtMicros };
  if (before !== null && isSame(before, after)) return { outcome: "same" };
  return { outcome: "changed", before, after };
}

/** Whether something is known of it that the source, as read, may not contain. */
function isNewer(
  { lastEventAtMicros, comparedAtMicros }: Subscription,
  readAtMicros: number | null,
): boolean {
  if (readAtMicros === null) return lastEventAtMicros !== null || comparedAtMicros !== null;
  return (
    (lastEventAtMicros ?? 0) > readAtMicros - CLOCK_MARGIN_MICROS || (comparedAtMicros ?? 0) > readAtMicros
  );
}

function isSame(before: Subscription, after: Subscription): boolean {
  return (
    changesOf(before, after) === null &&
    before.priceId === after.priceId &&
    before.customerId === after.customerId
  );
}

function record(
  page: DecidedPage,
  subscriptions: Map<string, Subscription>,
  { before, after }: { before: Subscription | null; after: Subscription },
): void {
  const { lastNotified, notifications } = notificationsFor(before, after, { isLate: false });
  const subscription = { ...after, lastNotified };
  const change = subscriptionChange(before, after);
  subscriptions.set(after.id, subscription);
  const isNew = before === null || page.created.some(({ id }) => id === after.id);
  const list = isNew ? page.created : page.updated;
  const at = list.findIndex(({ id }) => id === after.id);
  if (at < 0) list.push(subscription);
  else list[at] = subscription;
  page.report[before === null ? "created" : "updated"] += 1;
  page.notifications.push(...notifications);
  page.subscriptionChanges.push(change);
  if (isFirstLink(before, after)) page.linked.push(after.id);
  if (change.changes !== null) page.changes.push({ subscriptionId: after.id, changes: change.changes });
}

function unmatchedRow({ providerSubscriptionId, state, email }: SubscriptionRow, reason: string): Unmatched {
  return {
    providerSubscriptionId,
    customerId: state?.customerId ?? null,
    userId: state?.userId ?? null,
    email,
    reason,
  };
}
