import { extname } from "node:path";
import { parse } from "csv-parse/sync";
import { readInputFile } from "../read-input-file.ts";
import { hashOf, type Source } from "../run-import.ts";

const PAGE_SIZE = 500;

/** A CSV file with a header, or a JSON array of objects. @throws Error with what is wrong with the file */
export async function userFile(path: string): Promise<Source<unknown>> {
  const text = await readInputFile(path);
  const rows = extname(path).toLowerCase() === ".json" ? jsonRows(path, text) : csvRows(path, text);
  return {
    identity: ["users", "file", hashOf(text)],
    read: async (position) => {
      const from = Number(position ?? 0);
      const to = from + PAGE_SIZE;
      return { rows: rows.slice(from, to), next: to < rows.length ? String(to) : null };
    },
  };
}

function jsonRows(path: string, text: string): unknown[] {
  const value: unknown = parsed(path, () => JSON.parse(text));
  if (!Array.isArray(value)) throw new Error(`${path} is not a JSON array`);
  return value;
}

function csvRows(path: string, text: string): unknown[] {
  const rows: unknown[] = parsed(path, () =>
    parse(text, {
      ...{ columns: true, trim: true },
      // A row with too few or too many cells is listed by what it lacks.
      ...{ skip_empty_lines: true, relax_column_count: true },
    }),
  );
  const [first] = rows;
  if (first !== undefined && !Object.hasOwn(first as object, "email"))
    throw new Error(
      `${path} has no column "email": the first line names the columns id, externalId, email, name, locale`,
    );
  return rows;
}

function parsed<Value>(path: string, parse: () => Value): Value {
  try {
    return parse();
  } catch (error) {
    throw new Error(`${path} cannot be read: ${error instanceof Error ? error.message : "invalid"}`);
  }
}
