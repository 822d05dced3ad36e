import { resolve } from "node:path";
import type { Config } from "../config/config.ts";
import { type Database, openDatabase } from "../store/database.ts";
import { startEmbeddedPostgres } from "../store/embedded.ts";
import { hasEmbeddedDatabase } from "../store/embedded-exists.ts";
import { pendingMigrations } from "../store/migrate.ts";
import { broken, type Finding, good, warning } from "./finding.ts";
import { reasonOf } from "./probe.ts";

const ANSWER_WITHIN_MS = 5_000;
const OLDEST_VERSION = 150_000;

export type DatabaseCheck = {
  findings: Finding[];
  /** How far its clock is ahead of ours; `null`: unknown. */
  aheadMs: number | null;
};

/** Whether the database can be reached, is recent enough and has this version's schema. Changes nothing. */
export async function checkDatabase(config: Config): Promise<DatabaseCheck> {
  const isEmbedded = config.databaseUrl === null;
  if (isEmbedded && !hasEmbeddedDatabase(config.dataDir))
    return { findings: [missing(config)], aheadMs: null };
  let stop = async () => {};
  try {
    const postgres = isEmbedded ? await startEmbeddedPostgres(config.dataDir) : null;
    if (postgres) stop = postgres.stop;
    const database = openDatabase({
      url: config.databaseUrl ?? (postgres?.url as string),
      prepared: config.preparedStatements,
      maxConnections: 1,
      answerTimeoutMs: ANSWER_WITHIN_MS,
    });
    try {
      return await inspect(database, isEmbedded ? "embedded" : "DATABASE_URL");
    } finally {
      await database.close();
    }
  } catch (error) {
    const remedy = isEmbedded
      ? `Check DATA_DIR (${config.dataDir}): write permission and free disk space.`
      : "Check DATABASE_URL, and that PostgreSQL runs and accepts connections from here.";
    return { findings: [broken("database", `cannot be reached: ${reasonOf(error)}`, remedy)], aheadMs: null };
  } finally {
    await stop();
  }
}

function missing({ dataDir }: Config): Finding {
  const remedy = "Set DATA_DIR to the server's folder, or run script/server, which creates the database.";
  return broken("database", `there is none in ${resolve(dataDir)}`, remedy);
}

async function inspect(database: Database, which: string): Promise<DatabaseCheck> {
  type Row = { version: string; number: number; now: number };
  const startedMs = Date.now();
  const [row] = await database.run<Row>(SELECT_DIAGNOSTICS);
  const oursMs = (startedMs + Date.now()) / 2;
  const { version, number, now } = row as Row;
  const isOld = number < OLDEST_VERSION;
  const reached = isOld
    ? broken("database", `${which}: PostgreSQL ${version}`, "Upgrade PostgreSQL to version 15 or later.")
    : good("database", `${which}: PostgreSQL ${version}`);
  return { findings: [reached, await checkSchema(database)], aheadMs: now - oursMs };
}

const SELECT_DIAGNOSTICS = {
  name: "doctor_look",
  text: `
select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
  extract(epoch from clock_timestamp())::float8 * 1000 as now`,
};

async function checkSchema(database: Database): Promise<Finding> {
  const pending = await pendingMigrations(database);
  if (pending.length === 0) return good("schema", "up to date");
  return warning(
    "schema",
    `${pending.length} pending: ${pending.join(", ")}`,
    "Start the server: it runs them.",
  );
}
