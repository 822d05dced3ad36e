import type { CancelSubscription } from "../billing/cancel-at-provider.ts";
import type { HoldCheckout } from "../billing/close-on-deletion.ts";
import type { Caller } from "../domain/callers/caller.ts";
import { notFound, refuse } from "../domain/refusals/refusal.ts";
import type { Intake } from "../intake/intake.ts";
import {
  type Deletion,
  deleteUserData,
  findRunning,
  isLastAdministrator,
  type RunningSubscription,
} from "../store/accounts/account-deletion.ts";
import { type Database, DatabaseUnavailable, throwUnavailableOnTimeout } from "../store/database.ts";
import { retryOnContention } from "../store/retry-on-contention.ts";
import type { UnwantedSubscription } from "../store/subscriptions/unwanted-subscriptions.ts";
import { redactDeleted } from "./redact-deleted.ts";

export type DeletionTools = {
  database: Database;
  intake: Pick<Intake, "adapters" | "log">;
  /** `null`: no payment provider is configured. */
  cancelSubscription: CancelSubscription | null;
  /** `null`: no payment provider is configured. */
  holdCheckout: HoldCheckout | null;
};

/** Why a deletion is refused. */
export const DELETION_REASONS = [
  "not_found",
  "confirmation_mismatch",
  "last_administrator",
  "cancellation_failed",
  "checkout_in_progress",
  "checkout_not_closed",
] as const;

/** How often running subscriptions are canceled: more may be bought while the account is being deleted. */
const ROUNDS = 5;

/** How long the caller waits for the log of deliveries to be redacted; a job does the rest. */
const REDACT_WITHIN_MS = 2_000;

/**
 * Deletes a person for good, after their subscriptions have been canceled: if that fails, nothing is deleted,
 * and a checkout that is open stays open.
 * @throws Refusal `not_found`, `unavailable`; `conflict` for the last administrator
 */
export async function deletePerson(
  tools: DeletionTools,
  userId: string,
  options: { by: Caller },
): Promise<void> {
  const { database, holdCheckout } = tools;
  // Before a checkout is closed, and one that was just paid refunded, for an account that stays.
  if (await isLastAdministrator(database, userId)) refuse({ reason: "last_administrator" });
  const checkout = await holdCheckout?.(userId);
  try {
    const canceled = new Set<string>();
    await cancelAll(tools, await findRunning(database, userId), canceled);
    const unwanted = await checkout?.close().catch((error) => {
      // Refused before anything was canceled only: what is paid after the deletion is refunded.
      if (canceled.size === 0) throw error;
      return [];
    });
    await deleteOnceCanceled(tools, userId, { ...options, canceled, unwanted: unwanted ?? [] });
  } finally {
    await checkout?.release();
  }
  await redactForAWhile(tools);
}

async function deleteOnceCanceled(
  tools: DeletionTools,
  userId: string,
  options: { by: Caller; canceled: Set<string>; unwanted: readonly UnwantedSubscription[] },
): Promise<void> {
  for (let round = 1; ; round += 1) {
    const deleting = retryOnContention(() => deleteUserData(tools.database, userId, options));
    const deletion = await deleting.catch(throwUnavailableOnTimeout);
    if (deletion.outcome === "deleted") return;
    const running = stillRunning(deletion);
    if (round === ROUNDS) refuse({ reason: "cancellation_failed" });
    await cancelAll(tools, running, options.canceled);
  }
}

/** @param canceled the ids of those that are canceled are added */
async function cancelAll(
  { cancelSubscription }: DeletionTools,
  running: readonly RunningSubscription[],
  canceled: Set<string>,
): Promise<void> {
  for (const subscription of running) {
    if (cancelSubscription === null) refuse({ reason: "cancellation_failed" });
    await cancelSubscription(subscription).catch(() => refuse({ reason: "cancellation_failed" }));
    canceled.add(subscription.id);
  }
}

function stillRunning(deletion: Exclude<Deletion, { outcome: "deleted" }>): RunningSubscription[] {
  switch (deletion.outcome) {
    case "unknown":
      return notFound("user");
    case "last_administrator":
      return refuse({ reason: "last_administrator" });
    case "subscribed":
      return deletion.running;
    default:
      return deletion satisfies never;
  }
}

async function redactForAWhile(tools: DeletionTools): Promise<void> {
  const stopAt = performance.now() + REDACT_WITHIN_MS;
  try {
    await redactDeleted(tools, () => performance.now() >= stopAt);
  } catch (error) {
    // The account is gone, and what is left to redact is written down.
    if (!(error instanceof DatabaseUnavailable)) throw error;
  }
}
