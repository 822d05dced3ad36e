import type { CancelSubscription } from "../billing/cancel-at-provider.ts";
import type { CloseOpenCheckout } from "../billing/close-on-deletion.ts";
import type { Caller } from "../domain/caller.ts";
import { refuse } from "../domain/refusal.ts";
import type { Intake } from "../intake/intake.ts";
import { retryOnContention } from "../intake/retry-on-contention.ts";
import {
  type Deletion,
  deleteUserData,
  isLastAdministrator,
  type RunningSubscription,
} from "../store/account-deletion.ts";
import { type Database, DatabaseUnavailable } from "../store/database.ts";
import { redactDeleted } from "./redact-deleted.ts";

export type DeletionTools = {
  database: Database;
  intake: Pick<Intake, "adapters">;
  /** `null`: no payment provider is configured. */
  cancelSubscription: CancelSubscription | null;
  /** `null`: no payment provider is configured. */
  closeOpenCheckout: CloseOpenCheckout | null;
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
 * Deletes a person for good, after their subscriptions have been canceled: if that fails, nothing is deleted.
 * @throws Refusal `not_found`, `unavailable`; `conflict` for the last administrator
 */
export async function deletePerson(
  tools: DeletionTools,
  userId: string,
  options: { by: Caller },
): Promise<void> {
  const { database, closeOpenCheckout } = tools;
  // Before a checkout is closed, and one that was just paid refunded, for an account that stays.
  if (await isLastAdministrator(database, userId)) refuse({ reason: "last_administrator" });
  const release = await closeOpenCheckout?.(userId);
  try {
    await deleteOnceCanceled(tools, userId, options);
  } finally {
    await release?.();
  }
  await redactForAWhile(tools);
}

async function deleteOnceCanceled(
  { database, cancelSubscription }: DeletionTools,
  userId: string,
  { by }: { by: Caller },
): Promise<void> {
  const canceled = new Set<string>();
  for (let round = 1; ; round += 1) {
    const deletion = await retryOnContention(() => deleteUserData(database, userId, { canceled, by }));
    if (deletion.outcome === "deleted") return;
    const running = stillRunning(deletion);
    if (cancelSubscription === null || round === ROUNDS) refuse({ reason: "cancellation_failed" });
    for (const subscription of running) {
      await cancelSubscription(subscription).catch(() => refuse({ reason: "cancellation_failed" }));
      canceled.add(subscription.id);
    }
  }
}

function stillRunning(deletion: Exclude<Deletion, { outcome: "deleted" }>): RunningSubscription[] {
  switch (deletion.outcome) {
    case "unknown":
      return refuse({ reason: "not_found", params: { resource: "user" } });
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
