import type pg from "pg";
import type { Queryable } from "../../src/store/database.ts";
import { arrayLiteral } from "../../src/store/driver/array-literal.ts";

export type Plan = {
  "Node Type": string;
  "Relation Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Index Recheck"?: number;
  Plans?: Plan[];
};

export type Explained = { name: string; ms: number; plan: Plan };

/** Runs each statement twice, explained and for its rows, and rolls both back. */
export function explainingQueryable(client: pg.Client): Queryable & { explained: Explained[] } {
  const explained: Explained[] = [];
  const inRollback = async (text: string, values: readonly unknown[]) => {
    await client.query("begin");
    try {
      return await client.query(
        text,
        values.map((value) => (Array.isArray(value) ? arrayLiteral(value) : value)),
      );
    } finally {
      await client.query("rollback");
    }
  };
  return {
    explained,
    run: async <Row>({ name, text }: { name: string; text: string }, values: readonly unknown[] = []) => {
      const { rows } = await inRollback(`explain (analyze, format json) ${text}`, values);
      const [{ Plan: plan, "Execution Time": ms }] = rows[0]["QUERY PLAN"];
      explained.push({ name, ms, plan });
      return (await inRollback(text, values)).rows as Row[];
    },
  };
}

export function scansOf(plan: Plan): Plan[] {
  const nested = (plan.Plans ?? []).flatMap(scansOf);
  return plan["Relation Name"] === undefined ? nested : [plan, ...nested];
}

/** The rows that a scan has read of its table, returned or not. */
export function rowsRead(scan: Plan): number {
  const removed = (scan["Rows Removed by Filter"] ?? 0) + (scan["Rows Removed by Index Recheck"] ?? 0);
  return (scan["Actual Rows"] + removed) * scan["Actual Loops"];
}
