import { z } from "zod";
import { format } from "../domain/refusals/invalid-input.ts";
import { refuse } from "../domain/refusals/refusal.ts";
import { StorableText } from "../domain/storable-text.ts";
import { isUuid } from "../domain/uuid.ts";
import type { ListPosition } from "../store/list-position.ts";

/** A name and an id beyond ASCII, encoded. */
const MAX_CURSOR_LENGTH = 2_000;

/** What every list takes. */
export const PAGE = {
  limit: z.int().min(1).max(100).default(20).describe("Page size."),
  cursor: z
    .string()
    .min(1)
    .max(MAX_CURSOR_LENGTH)
    .nullable()
    .default(null)
    .describe("The `nextCursor` of the previous page; omit it for the first page."),
};

/** A filter of a list by a stored text, such as an id; `null`: any. */
export const FilterText = StorableText.min(1).max(255).nullable().default(null);

/** The id of what the database numbers, such as a delivery. */
export const NumberId = z.string().regex(/^[1-9]\d{0,17}$/, format("number_id"));

/** The cursor of a list whose cursors are ids. */
export const IdCursor = NumberId.nullable()
  .default(null)
  .describe(PAGE.cursor.description ?? "");

export type PageQuery = { limit: number; cursor: string | null };

export type Page<Item> = {
  items: Item[];
  /** Where the next page begins; `null` at the end. */
  nextCursor: string | null;
};

export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    items: z.array(item).describe("The items of this page."),
    nextCursor: z.string().nullable().describe("The cursor of the next page; `null` on the last page."),
  });
}

/**
 * A page of a list that is ordered by a time.
 * @param read the rows after a position; `null`: from the start of the list
 * @param isId whether the list has ids like this: the database must not be asked for others
 * @throws Refusal `invalid_input` for a cursor that no page has given out
 */
export async function readPage<Row extends ListPosition>(
  { limit, cursor }: PageQuery,
  read: (position: ListPosition | null, limit: number) => Promise<readonly Row[]>,
  isId: (text: string) => boolean = isUuid,
): Promise<Page<WithoutTime<Row>>> {
  const rows = await read(positionOf(cursor, isId), limit + 1);
  const { items, nextCursor } = cutPageAt(rows, limit, ({ atMicros, id }) => toCursor(`${atMicros}.${id}`));
  return { items: items.map(({ atMicros: _, ...item }) => item as WithoutTime<Row>), nextCursor };
}

/** Of each member of a union. */
type WithoutTime<Row> = Row extends unknown ? Omit<Row, "atMicros"> : never;

/**
 * Cuts a page out of rows that were read with one more than the page holds: it shows whether there is a next
 * page. For lists whose cursors are ids.
 */
export function cutPageById<Row extends { id: string }>(rows: readonly Row[], limit: number): Page<Row> {
  return cutPageAt(rows, limit, ({ id }) => id);
}

/** The same of a list with positions of its own. */
export function cutPageAt<Row>(
  rows: readonly Row[],
  limit: number,
  toCursor: (last: Row) => string,
): Page<Row> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last ? toCursor(last) : null };
}

export function toCursor(position: string): string {
  return Buffer.from(position).toString("base64url");
}

/**
 * What the pattern's two groups match.
 * @throws Refusal `invalid_input` for what no page has given out
 */
export function readCursor(cursor: string, pattern: RegExp): [string, string] {
  const [, first, second] = pattern.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
  return first === undefined || second === undefined ? malformedCursor() : [first, second];
}

/** @throws Refusal `invalid_input` */
export function malformedCursor(): never {
  refuse({ reason: "invalid_input", params: { problem: "malformed", format: "cursor" }, field: "cursor" });
}

// By characters, as the length of an id is: an emoji has two code units.
const POSITION = /^(-?\d{1,17})\.([^\0]{1,255})$/u;

function positionOf(cursor: string | null, isId: (text: string) => boolean): ListPosition | null {
  if (cursor === null) return null;
  const [atMicros, id] = readCursor(cursor, POSITION);
  return isId(id) ? { atMicros, id } : malformedCursor();
}
