import type { Database } from "./database.ts";
import { REQUIRED_SETTINGS } from "./driver/session-settings.ts";

/** Why the server cannot use a database, and what its operator can do. */
export type UnsuitableSetting = { detail: string; remedy: string };

/** The oldest that the tests run on. */
const MIN_VERSION_NUM = 150_000;

const SETTINGS = Object.keys(REQUIRED_SETTINGS).map((name) => `'${name}', current_setting('${name}')`);

const SELECT_SETTINGS = {
  name: "session_settings",
  text: `select current_setting('server_version') as version, current_setting('server_version_num')::int as "versionNum",
  current_setting('server_encoding') as encoding, quote_ident(current_user) as role,
  quote_ident(current_database()) as database, json_build_object(${SETTINGS.join(", ")}) as settings`,
};

type Row = {
  version: string;
  versionNum: number;
  encoding: string;
  role: string;
  database: string;
  settings: Record<string, string>;
};

/**
 * PostgreSQL's version, the database's encoding, or a setting of its role that a pooler keeps us from changing.
 * `null`: all is well.
 * @throws DatabaseUnavailable
 */
export async function unsuitableSetting(database: Database): Promise<UnsuitableSetting | null> {
  const [row] = (await database.run<Row>(SELECT_SETTINGS)) as [Row];
  if (row.versionNum < MIN_VERSION_NUM) {
    const detail = `PostgreSQL ${row.version} is too old`;
    return { detail, remedy: "Upgrade PostgreSQL to version 15 or later" };
  }
  if (row.encoding !== "UTF8") {
    const detail = `the database is in ${row.encoding}, which lacks most characters`;
    return { detail, remedy: "Use one made with: create database ... encoding 'UTF8' template template0" };
  }
  for (const [name, { value, isSuitable }] of Object.entries(REQUIRED_SETTINGS)) {
    const current = row.settings[name] ?? "";
    if (isSuitable.test(current)) continue;
    const detail = `${name} is ${current}, and a pooler keeps the server from changing it`;
    const statement = `alter role ${row.role} in database ${row.database} set ${name} = '${value}'`;
    return { detail, remedy: `Run: ${statement}; then restart the pooler` };
  }
  return null;
}
