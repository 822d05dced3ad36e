import type { Database } from "../store/database.ts";
import { type Finding, warning } from "./finding.ts";

const OUTDATED = {
  name: "doctor_collation",
  text: `
select datcollversion as version, pg_database_collation_actual_version(oid) as actual, quote_ident(datname) as name
from pg_database where datname = current_database() and datcollversion <> pg_database_collation_actual_version(oid)`,
};

/** `null`: texts are sorted as they were when the database's indexes were built. */
export async function checkCollation(database: Database): Promise<Finding | null> {
  type Row = { version: string; actual: string; name: string };
  const [outdated] = await database.run<Row>(OUTDATED);
  if (outdated === undefined) return null;
  const { version, actual, name } = outdated;
  return warning(
    "collation",
    `the indexes were built by the order of texts of version ${version}, and PostgreSQL now has ${actual}: rows may not be found, or be stored twice`,
    `Run: reindex database ${name}; alter database ${name} refresh collation version`,
  );
}
