import { z } from "zod";
import { format } from "../domain/invalid-input.ts";
import { refuse } from "../domain/refusal.ts";
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
export const FilterText = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[^\0]*$/, format("control_characters"))
  .nullable()
  .default(null);

/** The cursor of a list whose cursors are ids. */
export function cursorOf<Id extends z.ZodType<string>>(id: Id) {
  return id
    .nullable()
    .default(null)
    .describe(PAGE.cursor.description ?? "");
}

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
 * Cuts a page out of rows that were read with one more than the page holds: it shows whether there is a next
 * page.
 */
export function cutPage<Row, Item>(
  rows: readonly Row[],
  limit: number,
  { item, position }: { item: (row: Row) => Item; position: (row: Row) => ListPosition },
): Page<Item> {
  const pageRows = rows.slice(0, limit);
  const last = pageRows.at(-1);
  return {
    items: pageRows.map(item),
    nextCursor: rows.length > limit && last ? toCursor(position(last)) : null,
  };
}

function toCursor({ atMicros, id }: ListPosition): string {
  return Buffer.from(`${atMicros}.${id}`).toString("base64url");
}

const POSITION = /^(-?\d{1,17})\.([^\0]{1,255})$/;

/**
 * @param isId whether the list has ids like this: the database must not be asked for others
 * @throws Refusal `invalid_input` for what no page has given out
 */
export function positionOf(cursor: string | null, isId: (text: string) => boolean): ListPosition | null {
  if (cursor === null) return null;
  const [, atMicros, text] = POSITION.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
  if (atMicros === undefined || text === undefined || !isId(text)) {
    refuse({ reason: "invalid_input", params: { problem: "malformed", format: "cursor" }, field: "cursor" });
  }
  return { atMicros, id: text };
}
