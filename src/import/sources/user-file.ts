import { extname } from "node:path";
import { parse } from "csv-parse/sync";
import { readInputFile } from "../read-input-file.ts";
import { hashOf, type Source } from "../run-import.ts";
import type { SourceUser } from "../user-row.ts";

const PAGE_SIZE = 500;
const COLUMNS = ["id", "externalId", "email", "name", "locale"];

/** A CSV file with a header, or a JSON array of objects. @throws Error with what is wrong with the file */
export async function userFile(path: string): Promise<Source<SourceUser>> {
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

function jsonRows(path: string, text: string): SourceUser[] {
  const value: unknown = nameFileOnError(path, () => JSON.parse(text));
  if (!Array.isArray(value)) throw new Error(`${path} is not a JSON array`);
  const keys = new Set(value.flatMap((item) => (typeof item === "object" && item ? Object.keys(item) : [])));
  refuseMisspelt(path, [...keys]);
  return value.map((fields, index) => ({ fields, place: { item: index + 1 } }));
}

function csvRows(path: string, text: string): SourceUser[] {
  const [header, ...records] = nameFileOnError(path, () =>
    parse(text, {
      trim: true,
      info: true,
      // By default the first line break alone would count, and lines that end with another would run together.
      record_delimiter: ["\r\n", "\n", "\r"],
      // A row with too few or too many cells is listed.
      skip_empty_lines: true,
      relax_column_count: true,
    }),
  ) as unknown as CsvRecord[];
  if (header === undefined) return [];
  refuseMisspelt(path, header.record);
  if (!header.record.includes("email"))
    throw new Error(`${path} has no column "email": the first line names the columns ${COLUMNS.join(", ")}`);
  const repeated = COLUMNS.find((column) => header.record.filter((name) => name === column).length > 1);
  if (repeated !== undefined) throw new Error(`${path} has two columns "${repeated}"`);
  return records.map((record) => csvRow(header.record, record));
}

/** Further columns are ignored; one that only looks like ours would be lost without a word. */
function refuseMisspelt(path: string, names: readonly string[]): void {
  for (const column of COLUMNS.filter((column) => !names.includes(column))) {
    const misspelt = names.find((name) => lettersOf(name) === lettersOf(column));
    if (misspelt !== undefined)
      throw new Error(`${path} has a column "${misspelt}": its name is "${column}"`);
  }
}

/** `External ID`, `external_id` and `externalId` have the same. */
function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, "");
}

type CsvRecord = { record: string[]; info: { lines: number } };

function csvRow(columns: readonly string[], { record: cells, info }: CsvRecord): SourceUser {
  const named = columns.slice(0, cells.length).map((column, at) => [column, cells[at]]);
  // A comma that was not quoted has moved the cells behind it into other columns.
  const isTooLong = cells.slice(columns.length).some((cell) => cell !== "");
  return {
    fields: Object.fromEntries(named),
    place: { line: info.lines },
    ...(isTooLong ? { problem: "row: too many cells" } : {}),
  };
}

function nameFileOnError<Value>(path: string, parse: () => Value): Value {
  try {
    return parse();
  } catch (error) {
    throw new Error(`${path} cannot be read: ${error instanceof Error ? error.message : "invalid"}`);
  }
}
