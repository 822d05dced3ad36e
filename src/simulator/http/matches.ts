import type { Context } from "hono";

/**
 * Filters the items of a list by a query parameter; without it every item matches, and is not looked at. The query is
 * read once: a list can have 100,000 items.
 * @param parameter several values may be separated by commas
 */
export function matchesAny<Item>(
  c: Context,
  parameter: string,
  valueIn: (item: Item) => string | null,
): (item: Item) => boolean {
  const wanted = c.req.query(parameter);
  const values = new Set<string | null>(wanted?.split(","));
  return (item) => wanted === undefined || values.has(valueIn(item));
}

/** The same for a parameter that has one value. */
export function matches<Item>(
  c: Context,
  parameter: string,
  valueIn: (item: Item) => string | null,
): (item: Item) => boolean {
  const wanted = c.req.query(parameter);
  return (item) => wanted === undefined || valueIn(item) === wanted;
}
