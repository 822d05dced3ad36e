import {
  type Database,
  DatabaseUnavailable,
  type Queryable,
  sqlState,
  violatedConstraint,
} from "./database.ts";

export type TransactionOptions = {
  /** `off`: the commit is not waited for on disk; a later durable commit makes it durable too. */
  synchronousCommit: "on" | "off";
  lockTimeoutMs: number;
  statementTimeoutMs: number;
  /** So that a stopped process lets go of its locks. */
  idleTimeoutMs: number;
};

export type Transaction = Queryable & {
  /**
   * Sends the commit right behind these writes, in one round trip. PostgreSQL rolls back when one of them has failed.
   * @throws the first write's error; DatabaseUnavailable when the outcome of the commit is unknown.
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
  // Not awaited: it travels with the first statements of the work.
  const begun = handled(connection.script(beginning(options)));
  try {
    const result = await work({
      run: (statement, values) => handled(connection.run(statement, values)),
      commitAfter: async (writes) => {
        await Promise.all([begun, ...writes, connection.script("commit")]);
        committed = true;
      },
    });
    await begun;
    return result;
  } catch (error) {
    if (error instanceof DatabaseUnavailable) healthy = false;
    throw error;
  } finally {
    if (!committed && healthy) healthy = await rolledBack(connection.script("rollback"));
    connection.release({ healthy });
  }
}

/** Statements travel together and fail together: whoever awaits one hears of it, the others must not crash the process. */
function handled<Result>(statement: Promise<Result>): Promise<Result> {
  statement.catch(() => {});
  return statement;
}

function beginning(options: TransactionOptions): string {
  // What looks cheap to a plan made while the tables are small stays cached while they grow. For the same reason every
  // look-up of these transactions names its keys a second time, as `= any (...)`: a condition that an index must take.
  return `begin;
    set local synchronous_commit = ${options.synchronousCommit};
    set local lock_timeout = ${options.lockTimeoutMs};
    set local statement_timeout = ${options.statementTimeoutMs};
    set local idle_in_transaction_session_timeout = ${options.idleTimeoutMs};
    set local enable_seqscan = off;
    set local enable_hashjoin = off;
    set local enable_mergejoin = off`;
}

async function rolledBack(rollback: Promise<void>): Promise<boolean> {
  try {
    await rollback;
    return true;
  } catch {
    return false;
  }
}

const SERIALIZATION_FAILURE = "40001";
const DEADLOCK = "40P01";
const UNIQUE_VIOLATION = "23505";
const FOREIGN_KEY_VIOLATION = "23503";

const GONE = new Set(["subscription_user_id_fkey", "notification_user_id_fkey"]);

/** Lost against another transaction, through nobody's fault: the same work may simply be run again. */
export function isContention(error: unknown): boolean {
  const state = sqlState(error);
  if (state === SERIALIZATION_FAILURE || state === DEADLOCK) return true;
  // Two processes saw the first event of one subscription at once; the loser finds the winner's row.
  if (state === UNIQUE_VIOLATION) return violatedConstraint(error)?.startsWith("subscription_") ?? false;
  // The person has deleted the account meanwhile, and is found to be gone at the next look.
  return state === FOREIGN_KEY_VIOLATION && GONE.has(violatedConstraint(error) ?? "");
}
