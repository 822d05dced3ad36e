import { readFile } from "node:fs/promises";
import pg from "pg";
import { interruption } from "../shared/interruption.ts";
import { query } from "../shared/postgres.ts";
import { takeTurns } from "../shared/turns.ts";
import { type Bench, type Contender, type Round, summaryLine } from "./contender.ts";
import { startTollgate } from "./contenders.ts";
import { eventBody } from "./signed-events.ts";

export type History = {
  rows: number;
  fillSeconds: number;
  /** Of the filled database before the first round. */
  diskMegabytes: number;
  rounds: Record<string, Round[]>;
};

const BATCH = 100_000;

/** Tollgate twice, on an empty log and on one that has seen years of deliveries, taking turns. */
export async function measureHistory(bench: Bench): Promise<History> {
  const { historyRows: rows } = bench.options;
  let fillSeconds = 0;
  let diskMegabytes = 0;
  const contenders: Contender[] = [];
  try {
    contenders.push(await startTollgate(bench, "tollgate-empty"));
    contenders.push(
      await startTollgate(bench, "tollgate-filled", {
        prepare: async (url) => {
          const startedAt = performance.now();
          await fill(url, bench);
          fillSeconds = (performance.now() - startedAt) / 1e3;
          const [size] = await query<{ mb: number }>(
            url,
            "select pg_database_size(current_database())::float8 / 1e6 as mb",
          );
          diskMegabytes = size?.mb ?? Number.NaN;
        },
      }),
    );
    return {
      rows,
      fillSeconds,
      diskMegabytes,
      rounds: await takeTurns(contenders, bench.options, summaryLine),
    };
  } finally {
    for (const contender of contenders) await contender.stop();
  }
}

async function fill(url: string, { options }: Bench): Promise<void> {
  const insert = await readFile(new URL("sql/history.sql", import.meta.url), "utf8");
  // The first event of the second time round: its digits are zeros, and its time stands out.
  const payload = eventBody(options.subscriptions, options);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("set synchronous_commit = off");
    for (let first = 1; first <= options.historyRows; first += BATCH) {
      interruption.throwIfAborted();
      const last = Math.min(options.historyRows, first + BATCH - 1);
      await client.query(insert, [first, last, options.eventIds, payload, options.subscriptions]);
    }
    await client.query("vacuum analyze");
    await client.query("checkpoint");
  } finally {
    await client.end();
  }
}
