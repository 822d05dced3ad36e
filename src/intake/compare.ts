import { randomUUID } from "node:crypto";
import { type Changes, changesOf } from "../domain/changes.ts";
import { decide } from "../domain/decide.ts";
import { notificationsFor } from "../domain/notification.ts";
import type { PaymentApi } from "../domain/payment-api.ts";
import type { PaymentEvent } from "../domain/payment-event.ts";
import { insertNotifications } from "../store/notifications.ts";
import {
  findReconcilable,
  insertReconciliation,
  type ReconcilableSubscription,
  type Reconciliation,
} from "../store/reconciliations.ts";
import { lockSubscribers, lockSubscriptions, updateSubscriptions } from "../store/subscriptions.ts";
import { inTransaction } from "../store/transaction.ts";
import type { Intake } from "./intake.ts";
import { retryOnContention } from "./retry-on-contention.ts";
import { effectLimits } from "./transaction-limits.ts";

export type Comparison =
  /** `null`: it is as the provider says. */
  | { outcome: "compared"; changes: Changes | null }
  /** Left as it is, and why. */
  | { outcome: "left"; reason: string };

export type CompareOptions = {
  by: Reconciliation["by"];
  /** Says what would be changed, and changes nothing. */
  dryRun: boolean;
};

type Comparing = Pick<Intake, "database" | "plans" | "leaseSeconds">;

const ROUNDS = 5;

/**
 * Holds a subscription against what its provider says of it now, and corrects it by the rules that events go by. An
 * event that comes in between has the provider asked again.
 * @throws PaymentApiProblem, DatabaseUnavailable
 */
export async function compare(
  intake: Comparing,
  api: Pick<PaymentApi, "fetchSubscription">,
  found: ReconcilableSubscription,
  options: CompareOptions,
): Promise<Comparison> {
  let now: ReconcilableSubscription | null = found;
  for (let round = 1; round <= ROUNDS && now !== null; round += 1) {
    if (now.providerSubscriptionId === null)
      return left("no event has said yet under which id the provider knows it");
    const told = await api.fetchSubscription(now.providerSubscriptionId);
    if (told === null) return left("the provider knows no subscription by its id");
    const subscription = now;
    const comparison = await retryOnContention(() => correct(intake, subscription, told, options));
    if (comparison !== "overtaken") return comparison;
    now = await findReconcilable(intake.database, found.id);
  }
  return left(now === null ? "there is no such subscription any more" : "events of it keep coming in");
}

async function correct(
  intake: Comparing,
  { id, provider, providerSubscriptionId, version }: ReconcilableSubscription,
  told: PaymentEvent,
  { by, dryRun }: CompareOptions,
): Promise<Comparison | "overtaken"> {
  // Whose it is, is not asked: a comparison never gives a subscription to somebody else.
  const event = { ...told, providerSubscriptionId, userId: null };
  const link = { provider, providerSubscriptionId, userId: null, customerId: told.customerId };
  return inTransaction(intake.database, effectLimits(intake), async (transaction) => {
    const [, subscriptions, current] = await Promise.all([
      lockSubscribers(transaction, [link]),
      lockSubscriptions(transaction, [link]),
      findReconcilable(transaction, id),
    ]);
    const before = subscriptions.find((one) => one.id === id);
    if (before === undefined || current?.version !== version) return "overtaken";
    const decision = decide(provider, event, {
      subscriptions: [before],
      person: () => "unknown",
      plans: intake.plans,
      newId: randomUUID,
    });
    if (decision.outcome !== "applied") {
      return left(
        decision.outcome === "failed" ? decision.reason : "the provider's answer says nothing about it",
      );
    }
    const after = { ...decision.subscription, outOfOrder: false };
    const changes = changesOf(before, after);
    const isSame =
      changes === null && before.priceId === after.priceId && before.customerId === after.customerId;
    if (isSame || dryRun) return { outcome: "compared", changes };
    const { lastNotified: tellsNow, notifications } = notificationsFor(before, after, { isLate: false });
    await transaction.commitAfter([
      updateSubscriptions(transaction, [{ ...after, lastNotified: tellsNow }]),
      ...(notifications.length > 0 ? [insertNotifications(transaction, notifications)] : []),
      ...(changes ? [insertReconciliation(transaction, { subscriptionId: id, by, changes })] : []),
    ]);
    return { outcome: "compared", changes };
  });
}

function left(reason: string): Comparison {
  return { outcome: "left", reason };
}
