import { readFile } from "node:fs/promises";
import type { Queryable } from "./database.ts";
import { migrationFiles } from "./migration-files.ts";

const SCHEMA = new URL("./schema.sql", import.meta.url);

const TABLE = /^create table (\S+) \(/;
const CONSTRAINT = /^ {2}constraint (\w+) (?:PRIMARY KEY|UNIQUE|FOREIGN KEY)/;
const UNIQUE_INDEX = /^CREATE UNIQUE INDEX (\w+)/;

// A later release may have replaced keys that this one expects.
const SELECT_MISSING = {
  name: "missing_keys",
  text: `
select name from unnest($1::text[], $2::text[]) with ordinality as expected (table_name, name, place)
where not exists (select from schema_migration m where m.name <> all ($3))
  and not exists (select from pg_constraint where conrelid = to_regclass(table_name) and conname = expected.name)
  and not exists (
    select from pg_index i join pg_class c on c.oid = i.indexrelid
    where i.indrelid = to_regclass(table_name) and c.relname = expected.name and i.indisunique and i.indisvalid
  )
order by place`,
};

/**
 * Primary, unique and foreign keys that the database lacks although every migration has been run: the restore of a
 * backup, which makes them last, was interrupted. Without them simultaneous copies of an event are all applied.
 */
export async function missingKeys(database: Queryable): Promise<string[]> {
  const keys = await expectedKeys();
  const rows = await database.run<{ name: string }>(SELECT_MISSING, [
    keys.map(({ table }) => table),
    keys.map(({ name }) => name),
    await migrationFiles(),
  ]);
  return rows.map(({ name }) => name);
}

/** The lack as a sentence. */
export function lackOfKeys(missing: readonly string[]): string {
  const more = missing.length > SHOWN ? ` and ${missing.length - SHOWN} more` : "";
  return `the database lacks ${missing.slice(0, SHOWN).join(", ")}${more}: a backup was not restored to its end`;
}

const SHOWN = 3;

export const RESTORE_AGAIN = "Restore the backup again, into an empty database";

type Key = { table: string; name: string };

async function expectedKeys(): Promise<Key[]> {
  const keys: Key[] = [];
  let table = "";
  for (const line of (await readFile(SCHEMA, "utf8")).split("\n")) {
    table = TABLE.exec(line)?.[1] ?? table;
    const name = (CONSTRAINT.exec(line) ?? UNIQUE_INDEX.exec(line))?.[1];
    if (name !== undefined) keys.push({ table, name });
  }
  return keys;
}
