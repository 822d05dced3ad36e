import type { Config } from "../config/config.ts";
import type { Log } from "../observability/log.ts";
import { undefinedPlans } from "../store/subscriptions/undefined-plans.ts";
import { inTransaction, type TransactionOptions } from "../store/transaction.ts";
import type { Runtime } from "./runtime.ts";

/** A very large table takes longer: there `doctor` says what to check. */
const LIMITS: TransactionOptions = {
  synchronousCommit: "off",
  lockTimeoutMs: 5_000,
  statementTimeoutMs: 5_000,
  idleTimeoutMs: 5_000,
};

/**
 * At a start, warns of plans that somebody has and `plans.config.ts` lacks, as when one has just been taken out of it: their
 * subscribers pay, and have no features.
 */
export async function warnOfUndefinedPlans(
  { plans: { plans } }: Config,
  { database }: Runtime,
  log: Log,
): Promise<void> {
  const ids = plans.map(({ id }) => id);
  const missing = await inTransaction(database, LIMITS, (transaction) =>
    undefinedPlans(transaction, ids),
  ).catch(() => []);
  for (const { planId, subscriptions } of missing) {
    log.warn(
      { planId, subscriptions },
      "plans.config.ts lacks a plan that has subscribers: they have no features until it is put back",
    );
  }
}
