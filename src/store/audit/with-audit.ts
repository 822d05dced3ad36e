import type { Caller } from "../../domain/callers/caller.ts";
import { type Database, type Queryable, throwUnavailableOnTimeout } from "../database.ts";
import { retryOnContention } from "../retry-on-contention.ts";
import { INTERACTIVE_LIMITS, inTransaction } from "../transaction.ts";
import { type Audited, recordAudit } from "./record-audit.ts";

/**
 * Commits a change together with its audit entry, so that no crash leaves one without the other.
 * @param change made again when PostgreSQL ends its transaction for another one
 * @param entryOf what to record; `null`: nothing was changed
 * @throws DatabaseUnavailable
 */
export async function withAudit<Result>(
  database: Database,
  caller: Caller,
  change: (transaction: Queryable) => Promise<Result>,
  entryOf: (result: Result) => Audited | null,
): Promise<Result> {
  return retryOnContention(() =>
    inTransaction(database, INTERACTIVE_LIMITS, async (transaction) => {
      const result = await change(transaction);
      const entry = entryOf(result);
      if (entry === null) return result;
      await transaction.commitAfter([recordAudit(transaction, caller, entry)]);
      return result;
    }),
  ).catch(throwUnavailableOnTimeout);
}
