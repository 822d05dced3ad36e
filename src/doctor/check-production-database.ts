import type { Config } from "../config/config.ts";
import { type Database, openDatabase } from "../store/database.ts";
import { hasNoSchema } from "../store/migrate.ts";
import { IS_ADMINISTRATOR } from "../store/users/bans.ts";
import { checkLiveEvents, LIVE_EVENTS } from "./check-live-events.ts";
import { broken, type Finding, good, skipped, warning } from "./finding.ts";
import { PRIVATE_NETWORKS } from "./private-networks.ts";

/** The names of the checks, in order; docs/production-checklist.md says why. */
export const PRODUCTION_DATABASE_CHECKS = [
  "durable commits",
  "encrypted connection",
  "second administrator",
  LIVE_EVENTS,
] as const;

const [DURABLE, ENCRYPTED, SECOND_ADMINISTRATOR] = PRODUCTION_DATABASE_CHECKS;
const QUERY_TIMEOUT_MS = 5_000;
const NOT_ASKED = "the database could not be asked";

/** What must hold in the operator's own database before strangers use the server. Changes nothing. */
export async function checkProductionDatabase(config: Config): Promise<Finding[]> {
  if (config.databaseUrl === null) {
    return PRODUCTION_DATABASE_CHECKS.map((check) => skipped(check, "DATABASE_URL is not set"));
  }
  const database = openDatabase({
    url: config.databaseUrl,
    prepared: config.preparedStatements,
    maxConnections: 1,
    answerTimeoutMs: QUERY_TIMEOUT_MS,
  });
  try {
    const [settings] = await database.run<Settings>(SELECT_SETTINGS);
    const [connection] = await database.run<DatabaseConnection>(SELECT_CONNECTION, [PRIVATE_NETWORKS]);
    return [
      durability(settings as Settings),
      encryption(connection as DatabaseConnection),
      // A role that may not read the accounts can still be asked of the rest.
      await administration(database).catch(() => skipped(SECOND_ADMINISTRATOR, NOT_ASKED)),
      await checkLiveEvents(database, config).catch(() => skipped(LIVE_EVENTS, NOT_ASKED)),
    ];
  } catch {
    return PRODUCTION_DATABASE_CHECKS.map((check) => skipped(check, NOT_ASKED));
  } finally {
    await database.close();
  }
}

type Settings = { fsync: string; fullPageWrites: string; synchronousCommit: string };

// The role's own commits: the server overrules them, except through a pooler.
const SELECT_SETTINGS = {
  name: "doctor_durability",
  text: `select current_setting('fsync') as fsync, current_setting('full_page_writes') as "fullPageWrites",
  (select reset_val from pg_settings where name = 'synchronous_commit') as "synchronousCommit"`,
};

/** `from`: where PostgreSQL sees us, or our pooler; a socket of its own machine is private, too. */
type DatabaseConnection = { isEncrypted: boolean; from: string | null; isPrivate: boolean };

const SELECT_CONNECTION = {
  name: "doctor_connection",
  text: `select s.ssl as "isEncrypted", host(inet_client_addr()) as "from",
    coalesce(inet_client_addr() <<= any ($1::inet[]), true) as "isPrivate"
  from pg_stat_ssl s where s.pid = pg_backend_pid()`,
};

const COUNT_ADMINISTRATORS = {
  name: "doctor_administrators",
  text: `select count(*)::int as count from "user" u where ${IS_ADMINISTRATOR}`,
};

/** An acknowledged event must survive a crash of the database. */
export function durability({ fsync, fullPageWrites, synchronousCommit }: Settings): Finding {
  const off = [
    ...(fsync === "off" ? ["fsync"] : []),
    ...(fullPageWrites === "off" ? ["full_page_writes"] : []),
    ...(synchronousCommit === "off" ? ["synchronous_commit"] : []),
  ];
  if (off.length === 0) return good(DURABLE, "ready for production");
  return broken(DURABLE, `PostgreSQL has ${off.join(", ")} off`, "Turn it on: a crash would lose events.");
}

/** Inside one machine or a private network it is the operator's choice. */
export function encryption({ isEncrypted, from, isPrivate }: DatabaseConnection): Finding {
  if (isEncrypted) return good(ENCRYPTED, "TLS");
  if (isPrivate) return good(ENCRYPTED, "no TLS, but within a private network");
  return broken(
    ENCRYPTED,
    `PostgreSQL is reached from the public address ${from} without TLS`,
    "Add sslmode=verify-full to DATABASE_URL: customers' data and sessions can be read on the way.",
  );
}

async function administration(database: Database): Promise<Finding> {
  if (await hasNoSchema(database))
    return skipped(SECOND_ADMINISTRATOR, "no server has used the database yet");
  const [row] = await database.run<{ count: number }>(COUNT_ADMINISTRATORS);
  const count = row?.count ?? 0;
  if (count > 1) return good(SECOND_ADMINISTRATOR, "ready for production");
  const detail = count === 0 ? "there is no administrator" : "there is only one administrator";
  return warning(
    SECOND_ADMINISTRATOR,
    detail,
    "Promote a second one: npm run -s tollgate -- users promote <email>",
  );
}
