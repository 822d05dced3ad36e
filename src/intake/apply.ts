import { randomUUID } from "node:crypto";
import { changesOf } from "../domain/changes.ts";
import { type Decision, decide } from "../domain/decide.ts";
import type { DecideContext } from "../domain/decide-context.ts";
import { secondsUntilRetry } from "../domain/delivery.ts";
import { type Notification, notificationsFor } from "../domain/notification.ts";
import type { Subscription } from "../domain/subscription.ts";
import { DatabaseUnavailable, sqlState } from "../store/database.ts";
import { type Attempt, type Failure, failClaims, fenceClaims, logAttempts } from "../store/deliveries.ts";
import { insertNotifications } from "../store/notifications.ts";
import { redactHeld } from "../store/redaction.ts";
import {
  insertSubscriptions,
  lockSubscribers,
  lockSubscriptions,
  type SubscriptionLink,
  updateSubscriptions,
} from "../store/subscriptions.ts";
import { inTransaction, type Transaction } from "../store/transaction.ts";
import { insertUnwanted, type UnwantedSubscription } from "../store/unwanted-subscriptions.ts";
import { findUserStates, type UserState } from "../store/users.ts";
import type { AttemptOutcome, ClaimedEvent } from "./claimed-event.ts";
import type { Intake } from "./intake.ts";
import { retryOnContention } from "./retry-on-contention.ts";
import { effectLimits } from "./transaction-limits.ts";

/** Applies events in their order, effects and outcomes in one transaction; a failing event costs only itself. */
export async function applyGroup(intake: Intake, group: readonly ClaimedEvent[]): Promise<AttemptOutcome[]> {
  // It has waited for longer than its claim holds: whoever takes it over next must not find us at it as well.
  const overdueBeforeMs = performance.now() - intake.leaseSeconds * 1000;
  if (group.length === 1 && (group[0] as ClaimedEvent).startedAtMs < overdueBeforeMs)
    return [{ outcome: "lost" }];
  try {
    return await retryOnContention(() => applyTogether(intake, group));
  } catch (error) {
    if (error instanceof DatabaseUnavailable) {
      intake.log.warn({ err: error, events: group.length }, "database unavailable: nothing was applied");
      return group.map(() => ({ outcome: "unavailable" }));
    }
    if (group.length === 1) return [await recordDefect(intake, group[0] as ClaimedEvent, error)];
  }
  // The transaction is undone, and with it everybody's effects: singly, only the guilty one fails.
  const outcomes: AttemptOutcome[] = [];
  for (const work of group) outcomes.push(...(await applyGroup(intake, [work])));
  return outcomes;
}

async function applyTogether(intake: Intake, group: readonly ClaimedEvent[]): Promise<AttemptOutcome[]> {
  return inTransaction(intake.database, effectLimits(intake), async (transaction) => {
    const links = linksOf(group);
    const [held, , subscriptions, people] = await Promise.all([
      fenceClaims(
        transaction,
        group.map((work) => work.claim),
      ),
      links.length === 0 ? null : lockSubscribers(transaction, links),
      links.length === 0 ? [] : lockSubscriptions(transaction, links),
      links.length === 0 ? new Map<string, UserState>() : findUserStates(transaction, userIdsIn(group)),
    ]);
    const ledger = trackSubscriptions(subscriptions);
    const context: DecideContext = {
      get subscriptions() {
        return ledger.subscriptions();
      },
      userState: (id) => people.get(id) ?? "unknown",
      plans: intake.plans,
      newId: randomUUID,
    };
    const changed: Attempt["changed"][] = group.map(() => null);
    const decisions = group.map((work, index): Decision | null => {
      if (!held.has(work.claim.id)) return null;
      if ("problem" in work.reading) return { outcome: "failed", reason: work.reading.problem };
      const decision = decide(work.slot, work.reading.event, context);
      if (decision.outcome === "applied") {
        changed[index] = ledger.record(decision);
      }
      return decision;
    });
    const ofDeleted = group.filter((work, index) => isOfDeletedUser(work, decisions[index] ?? null, people));
    const unwanted = group.flatMap((work, index) =>
      decisions[index]?.outcome === "ignored" ? unwantedIn(work, people) : [],
    );
    const writes = [
      ...(unwanted.length > 0 ? [insertUnwanted(transaction, unwanted)] : []),
      ...ledger.writes(transaction),
      ...recordOutcomes(transaction, group, decisions, changed),
      ...(ofDeleted.length > 0
        ? [
            redactHeld(
              transaction,
              ofDeleted.map((work) => work.claim.id),
            ),
          ]
        : []),
    ];
    for (const write of writes) write.catch(() => {});
    await intake.reached("effects written");
    await transaction.commitAfter(writes);
    await intake.reached("committed");
    for (const { provider: slot, providerSubscriptionId } of unwanted) {
      const message = "a deleted account has paid: its subscription is canceled and refunded";
      intake.log.error({ slot, providerSubscriptionId }, message);
    }
    return decisions.map(outcomeOf);
  });
}

/** The subscriptions as the events of this group find them, each on top of the one before. */
function trackSubscriptions(locked: readonly Subscription[]) {
  const now = new Map(locked.map((one) => [one.id, one]));
  const stored = new Set(now.keys());
  const changed = new Set<string>();
  const news: Notification[] = [];
  let list: Subscription[] | null = null;
  return {
    subscriptions: () => {
      list ??= [...now.values()];
      return list;
    },
    /** Returns what it changes of what the event before has left. */
    record({ subscription, isLate }: Decision & { outcome: "applied" }): Attempt["changed"] {
      const before = now.get(subscription.id) ?? null;
      const { lastNotified, notifications } = notificationsFor(before, subscription, { isLate });
      news.push(...notifications);
      now.set(subscription.id, { ...subscription, lastNotified });
      changed.add(subscription.id);
      list = null;
      const changes = changesOf(before, subscription);
      return changes && { subscriptionId: subscription.id, changes };
    },
    writes(transaction: Transaction): Promise<unknown>[] {
      const written = [...changed].map((id) => now.get(id) as Subscription);
      const added = written.filter((one) => !stored.has(one.id)).sort(byProviderId);
      const updated = written.filter((one) => stored.has(one.id));
      return [
        ...(added.length > 0 ? [insertSubscriptions(transaction, added)] : []),
        ...(updated.length > 0 ? [updateSubscriptions(transaction, updated)] : []),
        ...(news.length > 0 ? [insertNotifications(transaction, news)] : []),
      ];
    },
  };
}

// New rows collide on their names, so that is the order in which two processes must add them.
function byProviderId(a: Subscription, b: Subscription): number {
  const [nameA, nameB] = [a, b].map((one) => `${one.provider} ${one.providerSubscriptionId ?? one.userId}`);
  return (nameA as string) < (nameB as string) ? -1 : 1;
}

function linksOf(group: readonly ClaimedEvent[]): SubscriptionLink[] {
  return group.flatMap((work) =>
    "event" in work.reading && work.reading.event.kind !== "ignored"
      ? [
          {
            provider: work.slot,
            providerSubscriptionId: work.reading.event.providerSubscriptionId,
            userId: work.reading.event.userId,
            customerId: work.reading.event.customerId,
          },
        ]
      : [],
  );
}

function userIdsIn(group: readonly ClaimedEvent[]): string[] {
  return group.flatMap((work) =>
    "event" in work.reading && work.reading.event.userId !== null ? [work.reading.event.userId] : [],
  );
}

/** Of a person who has deleted the account nothing is kept that has done its work. */
function isOfDeletedUser(
  { reading }: ClaimedEvent,
  decision: Decision | null,
  people: ReadonlyMap<string, UserState>,
): boolean {
  if (decision === null || decision.outcome === "failed" || "problem" in reading) return false;
  if (decision.outcome === "applied") return decision.subscription.userId === null;
  return reading.event.userId !== null && people.get(reading.event.userId) === "deleted";
}

/** A checkout can be paid after its account was deleted, when nobody is left who could cancel. */
function unwantedIn(
  { slot, reading }: ClaimedEvent,
  people: ReadonlyMap<string, UserState>,
): UnwantedSubscription[] {
  if ("problem" in reading) return [];
  const { kind, userId, status, providerSubscriptionId } = reading.event;
  const isOver = kind === "customer.subscription.deleted" || status === "canceled";
  if (userId === null || providerSubscriptionId === null || isOver || people.get(userId) !== "deleted")
    return [];
  return [{ provider: slot, providerSubscriptionId }];
}

/** Writes what came of the attempts whose claims hold; a `null` is somebody else's by now. */
function recordOutcomes(
  transaction: Transaction,
  group: readonly ClaimedEvent[],
  decisions: readonly (Decision | null)[],
  changed: readonly Attempt["changed"][],
): Promise<void>[] {
  const attempts: Attempt[] = [];
  const failures: Failure[] = [];
  for (const [index, work] of group.entries()) {
    const decision = decisions[index];
    if (!decision) continue;
    const failedBecause = decision.outcome === "failed" ? decision.reason : null;
    const durationMs = Math.round((performance.now() - work.startedAtMs) * 1000) / 1000;
    attempts.push({
      ...work.claim,
      source: work.source,
      failedBecause,
      durationMs,
      changed: changed[index] ?? null,
    });
    if (failedBecause === null) continue;
    const retryInSeconds = secondsUntilRetry(work.claim.claimNo, Math.random());
    failures.push({ ...work.claim, reason: failedBecause, retryInSeconds });
  }
  return [
    ...(failures.length > 0 ? [failClaims(transaction, failures)] : []),
    ...(attempts.length > 0 ? [logAttempts(transaction, attempts)] : []),
  ];
}

function outcomeOf(decision: Decision | null): AttemptOutcome {
  if (!decision) return { outcome: "lost" };
  if (decision.outcome === "failed") return { outcome: "failed", reason: decision.reason };
  return { outcome: decision.outcome };
}

/** The effects were undone; what remains to be said is why, if the claim still holds. */
async function recordDefect(intake: Intake, work: ClaimedEvent, error: unknown): Promise<AttemptOutcome> {
  intake.log.error({ err: error, deliveryId: work.claim.id }, "applying an event failed");
  const state = sqlState(error);
  const reason = state ? `database: ${(error as Error).message} (${state})` : `defect: ${String(error)}`;
  const failure: Decision = { outcome: "failed", reason: reason.slice(0, 500) };
  try {
    return await inTransaction(intake.database, effectLimits(intake), async (transaction) => {
      const held = await fenceClaims(transaction, [work.claim]);
      const decision = held.has(work.claim.id) ? failure : null;
      await transaction.commitAfter(recordOutcomes(transaction, [work], [decision], []));
      return outcomeOf(decision);
    });
  } catch (failed) {
    if (!(failed instanceof DatabaseUnavailable))
      intake.log.error({ err: failed }, "recording a failure failed");
    return { outcome: "unavailable" };
  }
}
