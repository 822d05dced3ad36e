import type { TestDatabase } from "../support/database.ts";

/** The columns that contain the text, in any table and in any case: `table.column`. */
export async function findInAllTables(test: Pick<TestDatabase, "rows">, text: string): Promise<string[]> {
  const columns = await test.rows<{ table: string; column: string }>(
    `select table_name as table, column_name as column from information_schema.columns
     where table_schema = 'public' order by 1, 2`,
  );
  const places: string[] = [];
  for (const { table, column } of columns) {
    const matches = await test.rows(
      `select from "${table}" where strpos(lower("${column}"::text), lower($1)) > 0 limit 1`,
      [text],
    );
    if (matches.length > 0) places.push(`${table}.${column}`);
  }
  return places;
}
