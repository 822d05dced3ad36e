import type { Database } from "../store/database.ts";
import { type Finding, warning } from "./finding.ts";

// While one is being built, it cannot be used yet. Only some roles may see for which table another user is building one.
const UNUSABLE = {
  name: "doctor_unusable_indexes",
  text: `
select c.relname as name,
  format(case when c.relname ~ '_cc(new|old)[0-9]*$' then 'drop index concurrently %I' else 'reindex index concurrently %I' end, c.relname) as remedy
from pg_index i join pg_class c on c.oid = i.indexrelid
where not i.indisvalid and c.relnamespace = to_regnamespace(quote_ident(current_schema())) and c.relkind = 'i'
  and not exists (
    select from pg_stat_progress_create_index p
    where p.datname = current_database() and coalesce(p.relid, i.indrelid) = i.indrelid
  )
order by c.relname`,
};

/** `null`: every index can be used. */
export async function checkIndexes(database: Database): Promise<Finding | null> {
  const unusable = await database.run<{ name: string; remedy: string }>(UNUSABLE);
  if (unusable.length === 0) return null;
  return warning(
    "indexes",
    `no query can use ${unusable.map(({ name }) => name).join(", ")}, which was interrupted while it was built; writes may still maintain it`,
    `As the owner, one by one: ${unusable.map(({ remedy }) => remedy).join("; ")}.`,
  );
}
