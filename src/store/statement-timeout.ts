import type { Queryable } from "./database.ts";

const SET = { name: "set_statement_timeout", text: "select set_config('statement_timeout', $1, true)" };

/** Until the end of the transaction, or the next one. */
export async function setStatementTimeout(transaction: Queryable, timeoutMs: number): Promise<void> {
  await transaction.run(SET, [`${timeoutMs}`]);
}
