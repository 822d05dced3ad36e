import type { TransactionOptions } from "../store/transaction.ts";

/** Of an event that waits by itself: PostgreSQL checks for a deadlock after a second. */
const LOCK_TIMEOUT_MS = 1_500;

/** Providers wait no longer for a response; a stuck process would keep its locks for no one. */
const MAX_STATEMENT_TIMEOUT_MS = 30_000;
const MIN_ANSWER_TIMEOUT_MS = 5_000;

/** How long to wait for PostgreSQL: until it would have canceled the statement itself. */
export function answerTimeoutMs(options: { leaseSeconds: number }): number {
  return Math.max(MIN_ANSWER_TIMEOUT_MS, thirdMs(options));
}

function thirdMs({ leaseSeconds }: { leaseSeconds: number }): number {
  return Math.min(MAX_STATEMENT_TIMEOUT_MS, Math.floor((leaseSeconds * 1000) / 3));
}

/**
 * All under a third of the lease: a stopped or stuck process releases its locks long before another takes
 * over.
 */
export function effectLimits(options: { leaseSeconds: number }): TransactionOptions {
  const third = Math.max(50, thirdMs(options) - 50);
  return {
    synchronousCommit: "on",
    lockTimeoutMs: Math.min(LOCK_TIMEOUT_MS, third),
    statementTimeoutMs: third,
    idleTimeoutMs: third,
  };
}

/** A group waits for rows that others are inserting; an event that needs other locks leaves it. */
const GROUP_LOCK_TIMEOUT_MS = 500;
const INSERT_IDLE_TIMEOUT_MS = 1_000;

export function groupLimits(options: { leaseSeconds: number }): TransactionOptions {
  const limits = effectLimits(options);
  return { ...limits, lockTimeoutMs: Math.min(GROUP_LOCK_TIMEOUT_MS, limits.lockTimeoutMs) };
}

const BRIEF_LOCK_TIMEOUT_MS = 50;

/** Of an event that others wait for in turn. */
export function briefLimits(options: { leaseSeconds: number }): TransactionOptions {
  const limits = effectLimits(options);
  return { ...limits, lockTimeoutMs: Math.min(BRIEF_LOCK_TIMEOUT_MS, limits.lockTimeoutMs) };
}

export function firstDeliveryLimits(options: { leaseSeconds: number }): TransactionOptions {
  const limits = groupLimits(options);
  return {
    ...limits,
    idleTimeoutMs: Math.min(INSERT_IDLE_TIMEOUT_MS, limits.idleTimeoutMs),
    plans: "generic",
  };
}

export function claimLimits(options: { leaseSeconds: number }): TransactionOptions {
  return { ...effectLimits(options), synchronousCommit: "off" };
}

/** All claims wait for the group that is being claimed: what is locked leaves it soon. */
const CLAIMS_LOCK_TIMEOUT_MS = 100;

export function claimGroupLimits(options: { leaseSeconds: number }): TransactionOptions {
  const limits = claimLimits(options);
  return { ...limits, lockTimeoutMs: Math.min(CLAIMS_LOCK_TIMEOUT_MS, limits.lockTimeoutMs) };
}
