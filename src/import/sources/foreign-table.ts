import { type Queryable, sqlState } from "../../store/database.ts";
import { UNDEFINED_COLUMN, UNDEFINED_TABLE } from "../../store/driver/sql-states.ts";
import type { SourcePage } from "../run-import.ts";

/** A row of a table as JSON, whatever its columns. */
export type ForeignRow = Record<string, unknown>;

const PAGE_SIZE = 200;

/**
 * Reads a table of another system by its `id`, as JSON: its columns differ between versions.
 * @param table as SQL, quoted
 * @throws Error naming the table when it is missing
 */
export async function readForeignTable<Row>(
  database: Queryable,
  table: string,
  position: string | null,
  toRow: (row: ForeignRow) => Row,
): Promise<SourcePage<Row>> {
  const text = `
select t.id::text as id, to_jsonb(t) as row from ${table} t
where $1::text is null or t.id::text collate "C" > $1
order by t.id::text collate "C" limit ${PAGE_SIZE}`;
  const rows = await database
    .run<{ id: string; row: ForeignRow }>({ name: `read ${table}`.slice(0, 60), text }, [position])
    .catch((error: unknown) => {
      const code = sqlState(error);
      if (code === UNDEFINED_TABLE || code === UNDEFINED_COLUMN) {
        // Only the source that names the schema of its table has the option.
        const options = table.includes(".") ? "--database-url and --schema" : "--database-url";
        throw new Error(`the database has no table ${table} with a column id: check ${options}`);
      }
      throw error;
    });
  const isLast = rows.length < PAGE_SIZE;
  return { rows: rows.map(({ row }) => toRow(row)), next: isLast ? null : (rows.at(-1)?.id ?? null) };
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The first of several names that a column has: frameworks write `userId` or `user_id`. */
export function column(row: ForeignRow, ...names: string[]): unknown {
  for (const name of names) if (row[name] !== undefined && row[name] !== null) return row[name];
  return null;
}

export function textColumn(row: ForeignRow, ...names: string[]): string | null {
  const value = column(row, ...names);
  return typeof value === "string" && value !== "" ? value : null;
}

/** Times without a zone are UTC. `null`: none, or unreadable. */
export function timeColumn(row: ForeignRow, ...names: string[]): Date | null {
  const value = column(row, ...names);
  if (typeof value !== "string") return null;
  const time = Date.parse(/(Z|[+-]\d\d(:?\d\d)?)$/.test(value) ? value : `${value}Z`);
  return Number.isNaN(time) ? null : new Date(time);
}
