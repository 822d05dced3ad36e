import { statfs } from "node:fs/promises";
import pg from "pg";
import { explainingQueryable, rowsRead, scansOf } from "../../test/support/explain.ts";
import { type LogExample, logQueries } from "../../test/support/log-queries.ts";
import { BrokenMeasurement } from "../shared/broken.ts";
import { note } from "../shared/note.ts";
import { query } from "../shared/postgres.ts";
import { takeTurns } from "../shared/turns.ts";
import { type Bench, type Contender, type Round, summaryLine } from "./contender.ts";
import { startTollgate } from "./contenders.ts";
import { fillLog } from "./fill-log.ts";

export type History = {
  rows: number;
  bodyBytes: number;
  fillSeconds: number;
  /** Of the filled database before the first round. */
  diskMegabytes: number;
  rounds: Record<string, Round[]>;
  queries: QueryTime[];
};

/** Of a query's slowest statement on the filled log. */
type QueryTime = { name: string; ms: number; rowsRead: number; scans: string[] };

/** What a row takes besides its body, with its indexes and the log while it is loaded. */
const BYTES_BESIDES = 900;

/** Tollgate twice, on an empty log and on one that has seen years of deliveries, taking turns. */
export async function measureHistory(bench: Bench): Promise<History> {
  const { historyRows: rows, historyBodyBytes: bodyBytes } = bench.options;
  await assertSpace(rows * (bodyBytes + BYTES_BESIDES));
  // Its bodies are old: they are not to be dropped meanwhile.
  const variables = { DELIVERY_RETENTION_DAYS: "3650" };
  let fillSeconds = 0;
  let diskMegabytes = 0;
  const contenders: Contender[] = [];
  try {
    contenders.push(await startTollgate(bench, "tollgate-empty", { variables }));
    const filled = await startTollgate(bench, "tollgate-filled", {
      variables,
      prepare: async (url) => {
        const startedAt = performance.now();
        await fillLog(url, { rows, bodyBytes });
        fillSeconds = (performance.now() - startedAt) / 1e3;
        const [size] = await query<{ mb: number }>(
          url,
          "select pg_database_size(current_database())::float8 / 1e6 as mb",
        );
        diskMegabytes = size?.mb ?? Number.NaN;
        note(`filled ${rows} rows in ${Math.round(fillSeconds)} s, ${Math.round(diskMegabytes)} MB`);
      },
    });
    contenders.push(filled);
    const rounds = await takeTurns(contenders, bench.options, summaryLine);
    return {
      rows,
      bodyBytes,
      fillSeconds,
      diskMegabytes,
      rounds,
      queries: await timeQueries(filled.databaseUrl),
    };
  } finally {
    for (const contender of contenders) await contender.stop();
  }
}

async function assertSpace(bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs("/var/tmp");
  if (bavail * bsize < 1.5 * bytes) {
    throw new BrokenMeasurement(
      `--history-rows: expected ${Math.ceil((1.5 * bytes) / 1e9)} GB free in /var/tmp, found ${Math.floor((bavail * bsize) / 1e9)}`,
    );
  }
}

/** Each query of the log, the statistics, the retry job and retention, once to warm up and once measured. */
async function timeQueries(url: string): Promise<QueryTime[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<LogExample>(
      `select d.id::text, d.event_id as "eventId", d.first_subscription_id::text as "subscriptionId",
         (select max(id) from webhook_delivery where status = 'failed')::text as "failedId"
       from webhook_delivery d where d.id = (select max(id) / 2 from webhook_delivery)`,
    );
    const times: QueryTime[] = [];
    for (const [name, run] of Object.entries(logQueries(rows[0] as LogExample))) {
      await run(explainingQueryable(client));
      const measured = explainingQueryable(client);
      await run(measured);
      const [slowest] = measured.explained.toSorted((a, b) => b.ms - a.ms);
      if (slowest === undefined) continue;
      const scans = scansOf(slowest.plan);
      const read = Math.max(0, ...scans.map(rowsRead));
      times.push({
        name,
        ms: slowest.ms,
        rowsRead: read,
        scans: [...new Set(scans.map((scan) => scan["Node Type"]))],
      });
    }
    return times;
  } finally {
    await client.end();
  }
}
