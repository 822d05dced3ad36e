import type { Queryable } from "../database.ts";

export type ImportCounts = { created: number; updated: number; skipped: number };

export type ImportRun = { position: string | null; read: number };

const BEGIN = {
  name: "begin_import",
  text: `
insert into import_run as r (id) values ($1)
on conflict (id) do update set updated_at = now()
returning r.position, r.created + r.updated + r.skipped
  + (select count(*)::int from import_unmatched u where u.import_id = r.id) as read`,
};

/**
 * Continues an interrupted import of the same input, or begins one. @returns where, and how many rows have been read
 */
export async function beginImport(database: Queryable, id: string): Promise<ImportRun> {
  const [run] = await database.run<ImportRun>(BEGIN, [id]);
  return run as ImportRun;
}

const ADVANCE = {
  name: "advance_import",
  text: `
with run as (
  insert into import_run as r (id, position, created, updated, skipped) values ($1, $2, $3, $4, $5)
  on conflict (id) do update set position = excluded.position, created = r.created + excluded.created,
    updated = r.updated + excluded.updated, skipped = r.skipped + excluded.skipped, updated_at = now()
  returning r.id
)
insert into import_unmatched (import_id, entry)
select run.id, entry from run, json_array_elements($6::json) as entries (entry)`,
};

/** Records the outcome of one page, in the transaction that has written it. */
export async function advanceImport(
  database: Queryable,
  id: string,
  page: ImportCounts & { position: string | null; unmatched: readonly object[] },
): Promise<void> {
  const { position, created, updated, skipped, unmatched } = page;
  await database.run(ADVANCE, [id, position, created, updated, skipped, JSON.stringify(unmatched)]);
}

const UNMATCHED = {
  name: "unmatched_of_import",
  text: "select entry from import_unmatched where import_id = $1 order by place",
};
const COUNTS = {
  name: "counts_of_import",
  text: "select created, updated, skipped from import_run where id = $1",
};
const FINISH = { name: "finish_import", text: "delete from import_run where id = $1" };

/** The outcome of all runs of an import, which is over then. */
export async function finishImport<Entry>(
  database: Queryable,
  id: string,
): Promise<ImportCounts & { unmatched: Entry[] }> {
  const [counts] = await database.run<ImportCounts>(COUNTS, [id]);
  const rows = await database.run<{ entry: Entry }>(UNMATCHED, [id]);
  await database.run(FINISH, [id]);
  const { created = 0, updated = 0, skipped = 0 } = counts ?? {};
  return { created, updated, skipped, unmatched: rows.map(({ entry }) => entry) };
}

const DROP_ABANDONED = {
  name: "drop_abandoned_imports",
  text: "delete from import_run where updated_at < now() - interval '7 days'",
};

/** Rows that were left out may contain addresses. */
export async function dropAbandonedImports(database: Queryable): Promise<void> {
  await database.run(DROP_ABANDONED);
}
