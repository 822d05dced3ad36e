import type {
  HookTransaction,
  PendingChange,
  SubscriptionHooks,
  WithSubscriptionChange,
} from "../domain/outbound/subscription-hook.ts";
import { DatabaseUnavailable, type Queryable } from "../store/database.ts";
import { setStatementTimeouts } from "../store/statement-timeouts.ts";
import {
  isContention,
  isLockTimeout,
  isOutOfResources,
  type Transaction,
  type TransactionOptions,
} from "../store/transaction.ts";
import { openHookTransaction } from "./hook-transaction.ts";

/** A plugin's hook failed, so the change must not be committed. */
export class HookFailed extends Error {
  readonly plugin: string;
  constructor(plugin: string, cause: unknown) {
    super(`withSubscriptionChange of plugin "${plugin}" failed`, { cause });
    this.plugin = plugin;
  }
}

/** Plugins that have `withSubscriptionChange`, and how long a call may take. */
export type WithHooks = {
  plugins: readonly { name: string; withSubscriptionChange: WithSubscriptionChange }[];
  timeoutMs: number;
};

const TIMEOUT_MS = 200;

/** Those of all plugins. */
export function withHooksOf(plugins: readonly SubscriptionHooks[], timeoutMs = TIMEOUT_MS): WithHooks {
  return {
    plugins: plugins.flatMap(({ name, withSubscriptionChange }) =>
      withSubscriptionChange === undefined ? [] : [{ name, withSubscriptionChange }],
    ),
    timeoutMs,
  };
}

/**
 * How many calls' time those of one transaction may take. A slower group is run singly: other events wait for
 * it.
 */
const CALLS_PER_TRANSACTION = 5;

/** The share of a call's time that it may wait for a lock: that timeout must come first, to tell the two apart. */
const LOCK_SHARE = 0.75;

type HookCalls = {
  writes: readonly Promise<unknown>[];
  limits: TransactionOptions;
  /** For work that no event waits for. */
  isUnhurried?: boolean;
  /** Contention and a lock that stays are the hook's fault too: it has met them too often. */
  isAtFault?: boolean;
};

/**
 * Calls the plugins' `withSubscriptionChange` for each change, in order, once the writes of the transaction
 * have succeeded. Without such a plugin none is awaited.
 * @throws HookFailed, or what is not the hook's fault: contention, a lock that stays, a lost connection
 */
export async function callHooks(
  transaction: Queryable,
  { plugins, timeoutMs }: WithHooks,
  pending: readonly PendingChange[],
  { writes, limits, isUnhurried = false, isAtFault = false }: HookCalls,
): Promise<void> {
  // The commit reports their errors: until it waits for them, their rejections count as unhandled.
  for (const write of writes) write.catch(() => {});
  if (plugins.length === 0 || pending.length === 0) return;
  // Their errors first: with a transaction that has failed, a hook could only fail too.
  await Promise.all(writes);
  await setStatementTimeouts(transaction, {
    statementTimeoutMs: timeoutMs,
    lockTimeoutMs: Math.min(limits.lockTimeoutMs, Math.ceil(timeoutMs * LOCK_SHARE)),
  });
  const endsAtMs = performance.now() + (isUnhurried ? Infinity : CALLS_PER_TRANSACTION * timeoutMs);
  for (const change of pending) {
    for (const { name, withSubscriptionChange } of plugins) {
      const timeLeftMs = Math.min(timeoutMs, endsAtMs - performance.now());
      const hook = { name, isAtFault, call: (tx: HookTransaction) => withSubscriptionChange(change, tx) };
      await callHook(transaction, hook, timeLeftMs);
    }
  }
  await setStatementTimeouts(transaction, limits);
}

/** Commits the writes of a transaction with those of the hooks. @throws as `callHooks` and the commit */
export async function commitWithHooks(
  transaction: Transaction,
  hooks: WithHooks,
  pending: readonly PendingChange[],
  calls: HookCalls,
): Promise<void> {
  await callHooks(transaction, hooks, pending, calls);
  await transaction.commitAfter(calls.writes);
}

type Hook = { name: string; isAtFault: boolean; call(tx: HookTransaction): unknown };

async function callHook(
  transaction: Queryable,
  { name, isAtFault, call }: Hook,
  timeoutMs: number,
): Promise<void> {
  const { tx, close } = openHookTransaction(transaction);
  const { promise: tooSlow, reject } = Promise.withResolvers<never>();
  const tooLong = () => new Error("took too long");
  const timer = setTimeout(() => reject(tooLong()), Math.max(0, timeoutMs));
  const endsAtMs = performance.now() + timeoutMs;
  // While a hook computes, the timer cannot fire, and PostgreSQL may end the connection meanwhile.
  const isTooLate = () => performance.now() > endsAtMs;
  try {
    await Promise.race([(async () => call(tx))().then(close), tooSlow]);
    if (isTooLate()) throw tooLong();
  } catch (error) {
    if (!isAtFault && (isContention(error) || isLockTimeout(error))) throw error;
    // The product's own writes have found room.
    if (error instanceof DatabaseUnavailable && !isTooLate() && !isOutOfResources(error)) throw error;
    throw new HookFailed(name, error);
  } finally {
    clearTimeout(timer);
    // What still runs must not reach the next transaction of this connection.
    close().catch(() => {});
  }
}
