import type { Context } from "hono";
import { unprocessable } from "./errors.ts";

const MAX_PAGE_SIZE = 100;
const DEFAULT_PAGE_SIZE = 10;

/** https://polar.sh/docs/api-reference/introduction#pagination */
export function numberedPage<Item>(
  c: Context,
  items: readonly Item[],
  show: (item: Item) => object,
): Response {
  const page = wholeNumber(c, "page", 1);
  // A larger size is reduced, not refused.
  const limit = Math.min(MAX_PAGE_SIZE, wholeNumber(c, "limit", DEFAULT_PAGE_SIZE));
  return c.json({
    items: items.slice((page - 1) * limit, page * limit).map(show),
    pagination: { total_count: items.length, max_page: Math.ceil(items.length / limit) },
  });
}

/** Oldest first on request; Polar lists the newest first. */
export function inRequestedOrder<Item>(c: Context, oldestFirst: readonly Item[]): readonly Item[] {
  const isNewestFirst = (c.req.query("sorting") ?? "-created_at").startsWith("-");
  return isNewestFirst ? oldestFirst.toReversed() : oldestFirst;
}

function wholeNumber(c: Context, name: string, fallback: number): number {
  const value = Number(c.req.query(name) ?? fallback);
  if (!(Number.isInteger(value) && value >= 1))
    throw unprocessable([name], "Input should be greater than 0", { in: "query" });
  return value;
}
