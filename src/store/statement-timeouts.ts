import type { Queryable } from "./database.ts";
import type { TransactionOptions } from "./transaction.ts";

const SET = {
  name: "set_statement_timeouts",
  text: "select set_config('statement_timeout', $1, true), set_config('lock_timeout', $2, true)",
};

/** Until the end of the transaction, or the next ones. */
export async function setStatementTimeouts(
  transaction: Queryable,
  { statementTimeoutMs, lockTimeoutMs }: Pick<TransactionOptions, "statementTimeoutMs" | "lockTimeoutMs">,
): Promise<void> {
  await transaction.run(SET, [`${statementTimeoutMs}`, `${lockTimeoutMs}`]);
}
