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
    `the indexes were built with collation version ${version}, and PostgreSQL now uses ${actual}: rows may be missed or stored twice`,
    `As the owner: remove duplicates, which no unique index can be built over; then run, one by one, \`reindex (concurrently) database ${name}\` and \`alter database ${name} refresh collation version\`.`,
  );
}
