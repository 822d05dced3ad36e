import type { TransactionOptions } from "../../src/store/transaction.ts";
import type { TestDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";

/** For a transaction that holds locks while a test watches others wait, on a busy machine too. */
export const HOLDING_LIMITS: TransactionOptions = {
  synchronousCommit: "on",
  lockTimeoutMs: 10_000,
  statementTimeoutMs: 10_000,
  idleTimeoutMs: 60_000,
};

/** Until so many of the database's connections wait for a lock. */
export function untilWaiting(test: Pick<TestDatabase, "rows">, count: number): Promise<void> {
  const waiting = `select count(*)::int as count from pg_stat_activity
    where wait_event_type = 'Lock' and datname = current_database()`;
  return eventually(() => test.rows(waiting), [{ count }]);
}
