import { resolve } from "node:path";
import type { Config } from "../config/config.ts";
import { errorText } from "../domain/error-text.ts";
import { perSlot, SLOTS, type Slot } from "../domain/slot.ts";
import { isUntrusted, TRUST_DATABASE_AUTHORITY } from "../domain/untrusted-certificate.ts";
import { type Database, openDatabase } from "../store/database.ts";
import { mayNeedEncryption } from "../store/driver/login-failures.ts";
import { startEmbeddedPostgres } from "../store/embedded/embedded.ts";
import { hasEmbeddedDatabase } from "../store/embedded/embedded-exists.ts";
import { providerKeyFirstUsedAt } from "../store/keys/provider-keys.ts";
import { outboundState } from "../store/outbound/outbound-state.ts";
import {
  checkPreparedStatements,
  isPreparedStatementError,
  PREPARED_STATEMENTS_REMEDY,
} from "../store/prepared-statements.ts";
import { unsuitableSetting } from "../store/unsuitable-setting.ts";
import { checkCollation } from "./check-collation.ts";
import { checkConnections } from "./check-connections.ts";
import { checkDisk } from "./check-disk.ts";
import { checkIndexes } from "./check-indexes.ts";
import { checkOutbound } from "./check-outbound.ts";
import { checkSchema } from "./check-schema.ts";
import { checkStandby } from "./check-standby.ts";
import { checkSubscribedPlans } from "./check-subscribed-plans.ts";
import { broken, type Finding, good } from "./finding.ts";

const QUERY_TIMEOUT_MS = 5_000;

export type DatabaseCheck = {
  findings: Finding[];
  /** How far its clock is ahead of ours; `null`: unknown. */
  aheadMs: number | null;
  /** Since when each slot's API key has been in use; `null`: unknown. */
  keysUsedSince: Record<Slot, Date | null>;
};

const UNKNOWN = { aheadMs: null, keysUsedSince: perSlot<Date | null>(() => null) };

type CheckOptions = {
  /** How much of its disk the embedded database needs. */
  minFreeBytes?: number;
};

/** Whether the database can be used, is recent enough and has this version's schema. Changes nothing. */
export async function checkDatabase(config: Config, options: CheckOptions = {}): Promise<DatabaseCheck> {
  if (config.databaseUrl !== null) return connect(config);
  if (!hasEmbeddedDatabase(config.dataDir)) return { findings: [missing(config)], ...UNKNOWN };
  const disk = await checkDisk(config.dataDir, options.minFreeBytes);
  const check = await connect(config);
  return disk === null ? check : { ...check, findings: [...check.findings, disk] };
}

async function connect(config: Config): Promise<DatabaseCheck> {
  const isEmbedded = config.databaseUrl === null;
  let stop = async () => {};
  try {
    const postgres = isEmbedded ? await startEmbeddedPostgres(config.dataDir) : null;
    if (postgres) stop = postgres.stop;
    const database = openDatabase({
      url: config.databaseUrl ?? (postgres?.url as string),
      prepared: config.preparedStatements,
      maxConnections: 2,
      answerTimeoutMs: QUERY_TIMEOUT_MS,
    });
    try {
      return await inspect(database, config);
    } finally {
      await database.close();
    }
  } catch (error) {
    return { findings: [connectionFailure(error, config)], ...UNKNOWN };
  } finally {
    await stop();
  }
}

function connectionFailure(error: unknown, config: Config): Finding {
  const problem = errorText(error);
  if (isPreparedStatementError(error)) {
    const detail = `the pooler does not track prepared statements: ${problem}`;
    return broken("database", detail, `${PREPARED_STATEMENTS_REMEDY}.`);
  }
  return broken("database", `cannot be reached: ${problem}`, remedyOf(error, config));
}

function remedyOf(error: unknown, { databaseUrl, dataDir }: Config): string {
  if (databaseUrl === null) return `Check DATA_DIR (${dataDir}): write permission and free disk space.`;
  if (isUntrusted(error)) return TRUST_DATABASE_AUTHORITY;
  if (mayNeedEncryption(error))
    return "If PostgreSQL accepts only encrypted connections, set sslmode=verify-full in DATABASE_URL; otherwise let pg_hba.conf accept connections from here.";
  return "Check DATABASE_URL, and that PostgreSQL runs and accepts connections from here.";
}

function missing({ dataDir }: Config): Finding {
  const remedy = "Set DATA_DIR to the server's folder, or run script/server, which creates the database.";
  return broken("database", `there is none in ${resolve(dataDir)}`, remedy);
}

async function inspect(database: Database, config: Config): Promise<DatabaseCheck> {
  const which = config.databaseUrl === null ? "embedded" : "DATABASE_URL";
  type Row = { version: string; now: number; isReadOnly: boolean };
  const startedMs = Date.now();
  const [row] = await database.run<Row>(SELECT_DIAGNOSTICS);
  const oursMs = (startedMs + Date.now()) / 2;
  const { version, now, isReadOnly } = row as Row;
  if (config.preparedStatements) await checkPreparedStatements(database);
  const unsuitable = isReadOnly ? READ_ONLY : await unsuitableSetting(database);
  const reached = unsuitable
    ? broken("database", `${which}: ${unsuitable.detail}`, unsuitable.remedy)
    : good("database", `${which}: PostgreSQL ${version}`);
  const concerns = unsuitable ? [] : await concernsOf(database);
  const schema = await checkSchema(database);
  const keysUsedSince = schema.state === "good" ? await usedSince(database, config) : UNKNOWN.keysUsedSince;
  const inTables = schema.state === "good" ? await findingsInTables(database, config) : [];
  const findings = [reached, ...concerns, schema, ...inTables];
  return { findings, aheadMs: now - oursMs, keysUsedSince };
}

async function concernsOf(database: Database): Promise<Finding[]> {
  const concerns: (Finding | null)[] = [];
  for (const check of [checkStandby, checkConnections, checkCollation, checkIndexes])
    concerns.push(await check(database));
  return concerns.filter((concern) => concern !== null);
}

async function findingsInTables(database: Database, { plans }: Config): Promise<Finding[]> {
  const missing = await checkSubscribedPlans(database, plans);
  return [checkOutbound(await outboundState(database)), ...(missing ? [missing] : [])];
}

async function usedSince(database: Database, { slots }: Config): Promise<Record<Slot, Date | null>> {
  const since = { ...UNKNOWN.keysUsedSince };
  for (const slot of SLOTS) {
    const { apiKey } = slots[slot];
    if (apiKey !== null) since[slot] = await providerKeyFirstUsedAt(database, { slot, apiKey });
  }
  return since;
}

const READ_ONLY = {
  detail: "read-only",
  remedy: "Connect to the primary, free its disk, or reset default_transaction_read_only of the role.",
};

const SELECT_DIAGNOSTICS = {
  name: "doctor_diagnostics",
  text: `
select current_setting('server_version') as version,
  extract(epoch from clock_timestamp())::float8 * 1000 as now,
  current_setting('transaction_read_only') = 'on' as "isReadOnly"`,
};
