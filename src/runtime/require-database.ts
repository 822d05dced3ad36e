import { resolve } from "node:path";
import type { Config } from "../config/config.ts";
import type { Database } from "../store/database.ts";
import { hasEmbeddedDatabase } from "../store/embedded/embedded-exists.ts";
import { hasNoSchema } from "../store/migrate.ts";
import { lackOfKeys, missingKeys, RESTORE_AGAIN } from "../store/missing-keys.ts";
import { checkPreparedStatements } from "../store/prepared-statements.ts";
import { unsuitableSetting } from "../store/unsuitable-setting.ts";

/** For commands that only read: a mistyped `DATA_DIR` must not become a new, empty database. @throws Error */
export function requireEmbeddedDatabase({ databaseUrl, dataDir }: Config): void {
  if (databaseUrl !== null || hasEmbeddedDatabase(dataDir)) return;
  throw new Error(
    `DATA_DIR: there is no database in ${resolve(dataDir)}: set DATA_DIR to the server's folder, or run script/server first`,
  );
}

/** The same for `DATABASE_URL`. @throws Error */
export async function requireSchema(database: Database): Promise<void> {
  if (!(await hasNoSchema(database))) return;
  throw new Error(
    "DATABASE_URL: this database has no Tollgate tables: check DATABASE_URL, or start the server, which creates them",
  );
}

/** That a backup was restored to its end. @throws Error */
export async function requireKeys(database: Database): Promise<void> {
  const missing = await missingKeys(database);
  if (missing.length > 0) throw new Error(`DATABASE_URL: ${lackOfKeys(missing)}. ${RESTORE_AGAIN}`);
}

/** Its version and encoding, what a role may set, and what a pooler keeps. @throws Error */
export async function requireSettings(
  database: Database,
  { preparedStatements }: Pick<Config, "preparedStatements">,
): Promise<void> {
  if (preparedStatements) await checkPreparedStatements(database);
  const unsuitable = await unsuitableSetting(database);
  if (unsuitable !== null) throw new Error(`DATABASE_URL: ${unsuitable.detail}. ${unsuitable.remedy}`);
}
