import {
  type Connection,
  type Database,
  DatabaseUnavailable,
  type Queryable,
  sqlState,
  violatedConstraint,
  violatedTable,
} from "./database.ts";
import {
  DEADLOCK_DETECTED,
  FOREIGN_KEY_VIOLATION,
  LOCK_NOT_AVAILABLE,
  SERIALIZATION_FAILURE,
  UNIQUE_VIOLATION,
} from "./driver/sql-states.ts";

export type TransactionOptions = {
  /** `off`: does not wait for the disk; a later durable commit makes it durable too. */
  synchronousCommit: "on" | "off";
  lockTimeoutMs: number;
  statementTimeoutMs: number;
  /** Frees the locks of a stopped process. */
  idleTimeoutMs: number;
  /** `generic`: never planned for the parameters at hand, which takes longer than short statements do. */
  plans?: "generic";
};

/** For a change that somebody waits for, and that may have to wait for others. */
export const INTERACTIVE_LIMITS: TransactionOptions = {
  synchronousCommit: "on",
  lockTimeoutMs: 10_000,
  statementTimeoutMs: 20_000,
  idleTimeoutMs: 10_000,
};

export type Transaction = Queryable & {
  /**
   * Sends the commit right behind these writes, in one round trip. PostgreSQL skips it when one of them has
   * failed.
   * @throws the first write's error; DatabaseUnavailable when the outcome of the commit is unknown, or
   * whether a failover would lose it.
   */
  commitAfter(writes: readonly Promise<unknown>[]): Promise<void>;
};

/** Runs `work` in a transaction; it is rolled back unless `work` has called `commitAfter`. */
export async function inTransaction<Result>(
  database: Database,
  options: TransactionOptions,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  const connection = await database.connection();
  let committed = false;
  let healthy = true;
  /** The first error of a statement: all that follow fail because of it. */
  let cause: unknown = null;
  const watched = <Row>(statement: Promise<Row>): Promise<Row> => {
    statement.catch((error) => {
      cause ??= error;
    });
    return statement;
  };
  // Not awaited: both are sent with the first statements of `work`.
  const beginning = watched(
    Promise.all([connection.run(BEGIN), connection.run<Replication>(SETTINGS, settingsOf(options))]),
  );
  try {
    const result = await work({
      run: (statement, values) => watched(connection.run(statement, values)),
      commitAfter: async (writes) => {
        const [[, [before]]] = await Promise.all([beginning, ...writes, connection.run(COMMIT)]);
        committed = true;
        if (before?.is_synchronous && options.synchronousCommit === "on") await confirmReplicated(connection);
      },
    });
    await beginning;
    return result;
  } catch (caught) {
    // Which statement's rejection reaches `work` is random.
    const error = sqlState(caught) === null ? caught : (cause ?? caught);
    if (error instanceof DatabaseUnavailable) healthy = false;
    throw error;
  } finally {
    if (!committed && healthy) healthy = await rolledBack(connection.script("rollback"));
    connection.release({ healthy });
  }
}

/** Runs one statement in a transaction of its own. */
export function inOwnTransaction<Result>(
  database: Database,
  options: TransactionOptions,
  send: (transaction: Queryable) => Promise<Result>,
): Promise<Result> {
  return inTransaction(database, options, async (transaction) => {
    const sent = send(transaction);
    await transaction.commitAfter([sent]);
    return sent;
  });
}

// Prepared, so that PostgreSQL does not parse the same statements for every transaction.
// A role may have another level as its default, through a pooler too.
const BEGIN = { name: "begin", text: "begin isolation level read committed" };
const COMMIT = { name: "commit", text: "commit" };
/** Whether commits wait for a standby. */
type Replication = { is_synchronous: boolean };
const IS_SYNCHRONOUS = "current_setting('synchronous_standby_names') <> '' as is_synchronous";
const REPLICATION = { name: "replication", text: `select ${IS_SYNCHRONOUS}` };

const SETTINGS = {
  name: "transaction_settings",
  // A generic plan made while tables are small stays cached while they grow. Hence conditions that force an
  // index.
  text: `
select set_config('synchronous_commit', $1, true), set_config('lock_timeout', $2, true),
  set_config('statement_timeout', $3, true), set_config('idle_in_transaction_session_timeout', $4, true),
  set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
  set_config('enable_mergejoin', 'off', true), set_config('plan_cache_mode', $5, true),
  -- Before PostgreSQL 18, a disabled node that is used anyway costs 1e10, which triggers JIT: 1 s of CPU.
  set_config('jit', 'off', true),
  -- A canceled wait for a standby is a warning: see burst-client.ts.
  set_config('client_min_messages', 'warning', true), ${IS_SYNCHRONOUS}`,
};

function settingsOf(options: TransactionOptions): string[] {
  const { synchronousCommit, lockTimeoutMs, statementTimeoutMs, idleTimeoutMs, plans } = options;
  const planMode = plans === "generic" ? "force_generic_plan" : "auto";
  return [synchronousCommit, `${lockTimeoutMs}`, `${statementTimeoutMs}`, `${idleTimeoutMs}`, planMode];
}

/**
 * Emptying `synchronous_standby_names` ends all waits for standbys, and PostgreSQL reports those commits as
 * done. It tells its processes of the new setting before it ends the waits, so one that is asked afterwards
 * knows it.
 */
async function confirmReplicated(connection: Connection): Promise<void> {
  const [after] = await connection.run<Replication>(REPLICATION).catch((cause: unknown) => {
    throw new DatabaseUnavailable("it is unknown whether the commit was replicated", { cause });
  });
  if (after?.is_synchronous) return;
  throw new DatabaseUnavailable("synchronous replication was switched off during the commit");
}

async function rolledBack(rollback: Promise<void>): Promise<boolean> {
  try {
    await rollback;
    return true;
  } catch {
    return false;
  }
}

export function isLockTimeout(error: unknown): boolean {
  return sqlState(error) === LOCK_NOT_AVAILABLE;
}

const INSUFFICIENT_RESOURCES = /^53/;

/** PostgreSQL had no disk space, memory or connection left, and rolled back: not the fault of the data. */
export function isOutOfResources(error: unknown): boolean {
  return error instanceof DatabaseUnavailable && INSUFFICIENT_RESOURCES.test(sqlState(error.cause) ?? "");
}

const GONE = new Set([
  "subscription_user_id_fkey",
  "notification_user_id_fkey",
  "usage_counter_user_id_fkey",
  "usage_key_user_id_fkey",
]);

/** A plugin's tables may be called nearly the same. */
const RACED = new Set(["subscription", "webhook_delivery"]);

/** PostgreSQL ended this transaction for another one: not the fault of the data, however often it happens. */
export function isConflict(error: unknown): boolean {
  const state = sqlState(error);
  return state === SERIALIZATION_FAILURE || state === DEADLOCK_DETECTED;
}

/** Lost a race against another transaction: the same work can simply be run again. */
export function isContention(error: unknown): boolean {
  if (isConflict(error)) return true;
  const state = sqlState(error);
  // Two processes inserted the same event, or a subscription's first one; the loser finds the winner's row.
  if (state === UNIQUE_VIOLATION) return RACED.has(violatedTable(error) ?? "");
  // The user has deleted the account meanwhile; the next run sees that.
  return state === FOREIGN_KEY_VIOLATION && GONE.has(violatedConstraint(error) ?? "");
}
