import type { TransactionOptions } from "../store/transaction.ts";

/**
 * A group that waits for somebody's lock is soon run singly, so that only the events concerned go on waiting; but not
 * before PostgreSQL has looked for a deadlock, which it does after a second.
 */
const LOCK_TIMEOUT_MS = 1_500;

/** All under a third of the lease: a process that is stopped or stuck lets go long before another takes over. */
export function effectLimits({ leaseSeconds }: { leaseSeconds: number }): TransactionOptions {
  const third = Math.max(50, Math.floor((leaseSeconds * 1000) / 3) - 50);
  return {
    synchronousCommit: "on",
    lockTimeoutMs: Math.min(LOCK_TIMEOUT_MS, third),
    statementTimeoutMs: third,
    idleTimeoutMs: third,
  };
}

export function claimLimits(options: { leaseSeconds: number }): TransactionOptions {
  return { ...effectLimits(options), synchronousCommit: "off" };
}
