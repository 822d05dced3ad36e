import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { BrokenMeasurement } from "../shared/broken.ts";
import { checkOut } from "../shared/checkout.ts";
import { query } from "../shared/postgres.ts";
import type { ServerProcess } from "../shared/server-process.ts";
import {
  EARLIER_TABLES,
  type Ledger,
  STRIPE_SYNC_TABLES,
  SYNC_ENGINE_TABLES,
  TOLLGATE_TABLES,
} from "./arrived.ts";
import type { Bench, Contender } from "./contender.ts";
import { createTollgateDatabase } from "./databases.ts";
import { startWithEndpoint } from "./outbound-contender.ts";
import { startSqlContender } from "./sql-contender.ts";
import { startWebhookContender } from "./webhook-contender.ts";

export const CONTENDERS = [
  "tollgate",
  "tollgate-before",
  "tollgate-endpoint",
  "sync-engine",
  "stripe-sync-engine",
  "one-at-a-time",
  "serverless",
  "sql-one-statement",
  "sql-two-transactions",
] as const;

export type ContenderName = (typeof CONTENDERS)[number];

/** For those that work on one event at a time: 8 to 30 made no difference. */
const POOL_SIZE = "16";

export async function startContender(bench: Bench, name: ContenderName): Promise<Contender> {
  switch (name) {
    case "tollgate":
      return startTollgate(bench, name);
    case "tollgate-before":
      return startBefore(bench, name);
    case "tollgate-endpoint":
      return startWithEndpoint((options) => startTollgate(bench, name, options));
    case "sync-engine":
      return startSyncEngine(bench, name);
    case "stripe-sync-engine":
      return startStripeSync(bench, name);
    case "one-at-a-time":
      return startOneAtATime(bench, name);
    case "serverless":
      return startServerless(bench, name);
    case "sql-one-statement":
    case "sql-two-transactions":
      return startSqlContender(bench, name);
    default:
      return name satisfies never;
  }
}

type TollgateOptions = {
  prepare?(databaseUrl: string): Promise<void>;
  /** Another checkout to run. */
  root?: string;
  variables?: Record<string, string>;
};

/** The real server, as an operator runs it, on a database of the given name. */
export async function startTollgate(
  bench: Bench,
  name: string,
  { prepare, root, variables = {} }: TollgateOptions = {},
): Promise<Contender & { process: ServerProcess; databaseUrl: string }> {
  const databaseUrl = await createTollgateDatabase(bench, name.replaceAll("-", "_"), root);
  await prepare?.(databaseUrl);
  const nodeOptions = bench.options.profile
    ? ["--cpu-prof", "--cpu-prof-dir=test-results/profiles", `--cpu-prof-name=${name}.cpuprofile`]
    : [];
  const program = {
    name,
    script: "src/server.ts",
    nodeOptions,
    variables: { DATABASE_URL: databaseUrl, ...variables },
    ...(root === undefined ? {} : { root }),
  };
  const ledger = root === undefined ? TOLLGATE_TABLES : EARLIER_TABLES;
  const contender = await startWebhookContender(bench, { program, databaseUrl, ledger });
  return { ...contender, databaseUrl };
}

/** The server of another commit, on a database with its own migrations. */
async function startBefore(bench: Bench, name: string): Promise<Contender> {
  const checkout = await checkOut(bench.options.against ?? "HEAD");
  try {
    const contender = await startTollgate(bench, name, { root: checkout.root });
    return { ...contender, stop: () => contender.stop().finally(checkout.remove) };
  } catch (error) {
    await checkout.remove();
    throw error;
  }
}

async function startSyncEngine(bench: Bench, name: string): Promise<Contender> {
  const databaseUrl = await bench.postgres.createDatabase("sync_engine");
  const variables = { DATABASE_URL: databaseUrl, POOL_SIZE };
  const program = { name, script: "bench/peers/sync-engine.js", variables };
  return startWebhookContender(bench, { program, databaseUrl, ledger: SYNC_ENGINE_TABLES });
}

/** The package that sync-engine succeeds. */
async function startStripeSync(bench: Bench, name: string): Promise<Contender> {
  const databaseUrl = await bench.postgres.createDatabase("stripe_sync_engine");
  // Its migrations give a function to this role by name.
  await query(
    databaseUrl,
    `do $$ begin
      if not exists (select from pg_roles where rolname = 'postgres') then create role postgres; end if;
    end $$`,
  );
  const variables = { DATABASE_URL: databaseUrl, POOL_SIZE };
  const program = { name, script: "bench/peers/stripe-sync-engine.js", variables };
  return startWebhookContender(bench, { program, databaseUrl, ledger: STRIPE_SYNC_TABLES });
}

/**
 * One instance of what serverless hosts run; with `--connections 1` it has a request at a time, as most of
 * them send.
 */
async function startServerless(bench: Bench, name: string): Promise<Contender> {
  execFileSync(join(import.meta.dirname, "../../script/build-pages"), ["--serverless"], { stdio: "inherit" });
  const databaseUrl = await createTollgateDatabase(bench, "serverless");
  const root = ".next-serverless/standalone";
  const variables = { DATABASE_URL: databaseUrl, CRON_SECRET };
  const ledger: Ledger = {
    ...TOLLGATE_TABLES,
    settled: async (url) => {
      await runCronJob(contender.process, "outbound-events");
      await TOLLGATE_TABLES.settled(url);
    },
  };
  const program = { name, script: "server.js", root, variables };
  const contender = await startWebhookContender(bench, { program, databaseUrl, ledger });
  return contender;
}

const CRON_SECRET = "bench-cron-secret-0123456789abcdef";

/** As the host's scheduler does: without it nothing is relayed there. */
async function runCronJob({ port }: ServerProcess, job: string): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/api/cron/${job}`, {
    headers: { authorization: `Bearer ${CRON_SECRET}` },
  });
  await response.arrayBuffer();
  if (!response.ok) throw new BrokenMeasurement(`${job} answered ${response.status}`);
}

async function startOneAtATime(bench: Bench, name: string): Promise<Contender> {
  const databaseUrl = await createTollgateDatabase(bench, "one_at_a_time");
  const variables = { DATABASE_URL: databaseUrl, POOL_SIZE };
  const program = { name, script: "bench/intake/one-at-a-time.ts", variables };
  // It relays no outbound events.
  const ledger = { ...TOLLGATE_TABLES, settled: async () => {} };
  return startWebhookContender(bench, { program, databaseUrl, ledger });
}
