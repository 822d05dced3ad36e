import type { HookTransaction } from "../domain/outbound/subscription-hook.ts";
import type { Queryable } from "../store/database.ts";
import { sendableValue } from "../store/driver/sendable-value.ts";

type OpenHookTransaction = {
  tx: HookTransaction;
  /** Refuses further statements. @throws the first statement's error, even one that the hook has caught. */
  close(): Promise<void>;
};

/** What a hook may do in a transaction: statements that stay in it, each of which must succeed. */
export function openHookTransaction(transaction: Queryable): OpenHookTransaction {
  const sent: Promise<unknown>[] = [];
  let isClosed = false;
  const query = async <Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> => {
    if (isClosed)
      throw new Error("the hook's time is over, or it has returned without awaiting its statements");
    if (isRefused(text)) throw new Error(REFUSAL);
    // Unnamed: a plugin's statements are not constants, and prepared ones would accumulate.
    return transaction.run<Row>({ name: "", text }, values.map(sendableValue));
  };
  return {
    tx: {
      query: <Row>(text: string, values?: readonly unknown[]) => {
        const running = query<Row>(text, values);
        sent.push(running);
        running.catch(() => {});
        return running;
      },
    },
    close: async () => {
      isClosed = true;
      // PostgreSQL would answer the commit of a failed transaction with a rollback, and no error.
      await Promise.all(sent);
    },
  };
}

const REFUSAL =
  "a hook cannot begin or end a transaction, set a variable, use the connection's prepared statements or copy";
// `copy` would wait for data that nobody sends, longer than any time-out of the transaction. The prepared
// statements are the product's, `commit` among them; without them the connection is of no use.
const REFUSED =
  /^(?:begin|start|commit|end|rollback|abort|prepare|execute|deallocate|savepoint|release|set|reset|discard|copy)\b|\bset_config\b/i;
const BEFORE_KEYWORD = /^(?:\s+|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/|;)+/;

function isRefused(text: string): boolean {
  return REFUSED.test(text.replace(BEFORE_KEYWORD, ""));
}
