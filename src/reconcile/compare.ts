import { randomUUID } from "node:crypto";
import type { Changes } from "../domain/changes.ts";
import { type Decision, decide } from "../domain/decide.ts";
import type { Failure } from "../domain/failures.ts";
import { notificationsFor } from "../domain/notification.ts";
import type { PaymentApi } from "../domain/payment-api.ts";
import type { PaymentEvent } from "../domain/payment-event.ts";
import { renewsWithoutUser, type Subscription } from "../domain/subscription.ts";
import { pendingChanges, subscriptionChange } from "../domain/subscription-change.ts";
import { type UnclearState, unclearStateSentence } from "../domain/unclear-state.ts";
import { commitWithHooks } from "../intake/call-hooks.ts";
import type { Intake } from "../intake/intake.ts";
import { effectLimits } from "../intake/transaction-limits.ts";
import { insertNotifications } from "../store/notifications/notifications.ts";
import {
  notifyUnknownPrices,
  type UnknownPrice,
} from "../store/notifications/unknown-price-notifications.ts";
import { insertOutboundChanges } from "../store/outbound/outbound-changes.ts";
import {
  findReconcilable,
  insertReconciliation,
  type ReconcilableSubscription,
} from "../store/reconciliation/reconciliations.ts";
import { retryOnContention } from "../store/retry-on-contention.ts";
import { lockSubscriptions } from "../store/subscriptions/subscription-locks.ts";
import { recordComparison, updateSubscriptions } from "../store/subscriptions/subscriptions.ts";
import { insertResumed, insertUnwanted } from "../store/subscriptions/unwanted-subscriptions.ts";
import { inTransaction, type Transaction } from "../store/transaction.ts";
import { findConfirmedEmails } from "../store/users/user-states.ts";
import { auditReconciliation, type Reconciler, reconcilerOf } from "./reconciler.ts";

export type Comparison =
  /** `null`: it matches the provider. */
  | { outcome: "compared"; changes: Changes | null }
  /** Unchanged. */
  | { outcome: "left"; because: UnclearState };

export type CompareOptions = {
  by: Reconciler;
  /** Whether to audit a comparison that has changed nothing too: one that somebody asked for singly. */
  audit: "each" | "changes";
  /** Reports what would change, and changes nothing. */
  dryRun: boolean;
  /** Whether a correction notifies the user and emits an event. */
  notify: boolean;
};

type CompareDeps = Pick<Intake, "database" | "plans" | "leaseSeconds" | "hooks">;

const ROUNDS = 5;

/**
 * Compares a subscription with its provider's current state and corrects it by the same rules as events. When
 * an event is applied in between, the provider is asked again.
 * @throws PaymentApiProblem, DatabaseUnavailable
 */
export async function compare(
  intake: CompareDeps,
  api: Pick<PaymentApi, "fetchSubscription">,
  reconcilable: ReconcilableSubscription,
  options: CompareOptions,
): Promise<Comparison> {
  let current: ReconcilableSubscription | null = reconcilable;
  for (let round = 1; round <= ROUNDS && current !== null; round += 1) {
    if (current.providerSubscriptionId === null) return leftUnchanged("no_provider_id");
    const askedAtMicros = Date.now() * 1000;
    const state = await api.fetchSubscription(current.providerSubscriptionId);
    if (state === null) return leftUnchanged("not_at_provider");
    const subscription = current;
    const comparison = await retryOnContention(() =>
      correct(intake, subscription, { state, askedAtMicros }, options),
    );
    if (comparison !== "changed_meanwhile") return comparison;
    current = await findReconcilable(intake.database, reconcilable.id);
  }
  return leftUnchanged(current === null ? "gone" : "keeps_changing");
}

async function correct(
  intake: CompareDeps,
  { id, provider, providerSubscriptionId, version }: ReconcilableSubscription,
  { state, askedAtMicros }: { state: PaymentEvent; askedAtMicros: number },
  { by, audit, dryRun, notify }: CompareOptions,
): Promise<Comparison | "changed_meanwhile"> {
  // Without the user: a comparison never reassigns a subscription.
  const event = { ...state, providerSubscriptionId, userId: null };
  const link = { provider, providerSubscriptionId, userId: null, customerId: null };
  const limits = effectLimits(intake);
  return inTransaction(intake.database, limits, async (transaction) => {
    const [subscriptions, current] = await Promise.all([
      lockSubscriptions(transaction, [link]),
      findReconcilable(transaction, id),
    ]);
    const before = subscriptions.find((subscription) => subscription.id === id);
    if (before === undefined || current?.version !== version) return "changed_meanwhile";
    const confirmed = await findConfirmedEmails(transaction, before.userId === null ? [] : [before.userId]);
    const decision = decide(provider, event, {
      subscriptions: [before],
      userState: () => "unknown",
      confirmedEmail: (userId) => confirmed.get(userId) ?? null,
      plans: intake.plans,
      newId: randomUUID,
    });
    const problem = problemOf(decision);
    const decided = decision.outcome === "applied" ? decision.subscription : before;
    // A problem with the plan is flagged for the operator. Events from before this request are late from now
    // on.
    const comparedAtMicros = laterOf(askedAtMicros, before.comparedAtMicros);
    const after = { ...decided, outOfOrder: problem !== null, comparedAtMicros };
    const change = subscriptionChange(before, after);
    const { changes } = change;
    const comparison: Comparison =
      problem === null ? { outcome: "compared", changes } : { outcome: "left", because: problem };
    const isSame =
      changes === null && before.priceId === after.priceId && before.customerId === after.customerId;
    if (dryRun) return comparison;
    const unknownPrices = notify ? unknownPricesOf(before, problem) : [];
    if (isSame && problem !== null) {
      if (unknownPrices.length > 0)
        await transaction.commitAfter([notifyUnknownPrices(transaction, unknownPrices)]);
      return comparison;
    }
    if (isSame) {
      await transaction.commitAfter([
        recordComparison(transaction, id, comparedAtMicros),
        ...undoRenewing(transaction, { before, after }),
        ...(audit === "each" ? [auditReconciliation(transaction, by, { id, outcome: "unchanged" })] : []),
      ]);
      return comparison;
    }
    const { lastNotified, notifications } = notificationsFor(before, after, { isLate: false });
    const writes = [
      updateSubscriptions(transaction, [{ ...after, lastNotified }]),
      ...undoRenewing(transaction, { before, after }),
      ...(notify && notifications.length > 0 ? [insertNotifications(transaction, notifications)] : []),
      ...(unknownPrices.length > 0 ? [notifyUnknownPrices(transaction, unknownPrices)] : []),
      ...(changes
        ? [
            insertReconciliation(transaction, {
              subscriptionId: id,
              by: reconcilerOf(by),
              changes,
              reason: problem && unclearStateSentence(problem),
            }),
          ]
        : []),
      ...(notify ? insertOutboundChanges(transaction, [change]) : []),
      auditReconciliation(transaction, by, { id, outcome: "corrected" }),
    ];
    await commitWithHooks(transaction, intake.hooks, pendingChanges([change]), { writes, limits });
    return comparison;
  });
}

/** Longer than a comparison takes: what is further ahead was stored while a server's clock was. */
const MAX_AHEAD_MICROS = 5 * 60 * 1_000_000;

/** One that asked later may have ended first. */
function laterOf(askedAtMicros: number, comparedAtMicros: number | null): number {
  const isAhead = (comparedAtMicros ?? 0) > askedAtMicros + MAX_AHEAD_MICROS;
  return isAhead ? askedAtMicros : Math.max(askedAtMicros, comparedAtMicros ?? 0);
}

/** Of a deleted account: resumed at the provider, or paid for since. */
function undoRenewing(
  transaction: Transaction,
  { before, after }: { before: Subscription; after: Subscription },
): Promise<void>[] {
  const { provider, providerSubscriptionId } = after;
  if (providerSubscriptionId === null || !renewsWithoutUser(after)) return [];
  const insert = before.status === "incomplete" ? insertUnwanted : insertResumed;
  return [insert(transaction, [{ provider, providerSubscriptionId }])];
}

function unknownPricesOf(before: Subscription, problem: UnclearState | null): UnknownPrice[] {
  if (problem?.cause !== "price_unknown") return [];
  return [{ subscription: before, priceId: problem.name ?? "", isNewlyFlagged: !before.outOfOrder }];
}

/** Why the provider's answer does not settle the subscription's plan; `null`: it does. */
function problemOf(decision: Decision): UnclearState | null {
  switch (decision.outcome) {
    case "applied":
      return decision.planProblem ? unclearPlan(decision.planProblem) : null;
    case "failed":
      return unclearPlan(decision.failure);
    case "ignored":
      return { cause: "no_information" };
    default:
      return decision satisfies never;
  }
}

function leftUnchanged(cause: UnclearState["cause"]): Comparison {
  return { outcome: "left", because: { cause } };
}

/** The subscription is known, so only its plan can be unclear. */
function unclearPlan(failure: Failure): UnclearState {
  switch (failure.reason) {
    case "plan_unknown":
      return { cause: "plan_unknown", name: failure.params.planId };
    case "price_unknown":
      return { cause: "price_unknown", name: failure.params.priceId };
    case "plan_not_named":
      return { cause: "no_plan" };
    default:
      return { cause: "no_information" };
  }
}
