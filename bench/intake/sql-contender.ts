import { execFile } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { BrokenMeasurement } from "../shared/broken.ts";
import { postgresMicros } from "../shared/cpu.ts";
import { interruption } from "../shared/interruption.ts";
import { tidy, untilFree, walBytes } from "../shared/postgres.ts";
import { quantile } from "../shared/statistics.ts";
import { TOLLGATE_TABLES } from "./arrived.ts";
import type { Bench, Contender, Round } from "./contender.ts";
import { createTollgateDatabase } from "./databases.ts";
import { eventBody } from "./signed-events.ts";

const run = promisify(execFile);

/** Of how many transactions pgbench writes down how long they took: all of them would cost it too much. */
const SAMPLED = 0.1;

/** The bare SQL of a first delivery, by pgbench on as many connections as the others have senders. */
export async function startSqlContender(
  bench: Bench,
  name: "sql-one-statement" | "sql-two-transactions",
  { perSecond, database = name }: { perSecond?: number; database?: string } = {},
): Promise<Contender> {
  const { options, postgres, folder } = bench;
  const databaseUrl = await createTollgateDatabase(bench, database.replaceAll("-", "_"));
  const script = new URL(`sql/${name.replace("sql-", "")}.sql`, import.meta.url).pathname;
  const logPrefix = join(folder, database);
  let first = 0;

  async function round(seconds: number): Promise<Round> {
    await untilFree(postgres.url, options.connections + 5);
    await tidy(databaseUrl);
    const mark = await TOLLGATE_TABLES.mark(databaseUrl);
    const walBefore = await walBytes(databaseUrl);
    const before = postgresMicros(postgres.pid);
    const { stdout } = await run(
      "pgbench",
      [
        "--no-vacuum",
        "--protocol=prepared",
        `--client=${options.connections}`,
        "--jobs=1",
        `--time=${seconds}`,
        `--file=${script}`,
        "--log",
        `--log-prefix=${logPrefix}`,
        // At a given rate there are few, and they are timed from the moment at which they were due.
        ...(perSecond === undefined ? [`--sampling-rate=${SAMPLED}`] : [`--rate=${perSecond}`]),
        "--define=n=0",
        `--define=first=${first}`,
        `--define=subs=${options.subscriptions}`,
        `--define=clients=${options.connections}`,
        `--define=kind=${options.eventIds}`,
        `--define=payload=${eventBody(options.subscriptions, options)}`,
        databaseUrl,
      ],
      { timeout: (seconds + 60) * 1_000, signal: interruption },
    );
    const after = postgresMicros(postgres.pid);
    const walAfter = await walBytes(databaseUrl);
    const events = printed(stdout, /transactions actually processed: (\d+)/);
    const eventsPerSecond = printed(stdout, /^tps = ([\d.]+) \(without/m);
    // A number of its own for each event, though some clients are faster than others.
    first += options.subscriptions * Math.ceil((8 * events) / options.subscriptions);

    const log = await TOLLGATE_TABLES.since(databaseUrl, mark);
    if (log?.applied !== events || log.other !== 0) {
      throw new BrokenMeasurement(`${events} transactions, but ${log?.applied} events in the log`);
    }
    const times = sampledMillis(logPrefix);
    return {
      events,
      eventsPerSecond,
      p50Ms: quantile(times, 0.5),
      p99Ms: quantile(times, 0.99),
      serverMicrosPerEvent: null,
      postgresMicrosPerEvent: before === null || after === null ? null : (after - before) / events,
      walBytesPerEvent: (walAfter - walBefore) / events,
    };
  }

  return { name, round, stop: async () => {} };
}

function printed(stdout: string, pattern: RegExp): number {
  const text = pattern.exec(stdout)?.[1];
  if (text === undefined) throw new BrokenMeasurement(`pgbench printed no result:\n${stdout}`);
  return Number(text);
}

/**
 * Reads and removes pgbench's logs, whose third column is the time that a transaction took, in microseconds.
 */
function sampledMillis(logPrefix: string): number[] {
  const folder = join(logPrefix, "..");
  const times: number[] = [];
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    if (!file.startsWith(`${logPrefix}.`)) continue;
    for (const line of readFileSync(file, "utf8").split("\n")) {
      if (line !== "") times.push(Number(line.split(" ")[2]) / 1e3);
    }
    rmSync(file);
  }
  return times.sort((a, b) => a - b);
}
