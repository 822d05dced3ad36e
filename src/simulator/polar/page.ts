import type { Context } from "hono";
import { unprocessable } from "./errors.ts";

const MAX_PAGE_SIZE = 100;
const DEFAULT_PAGE_SIZE = 10;

/** https://polar.sh/docs/api-reference/introduction#pagination */
export function numberedPage<Item>(c: Context, items: readonly Item[]) {
  const page = Number(c.req.query("page") ?? 1);
  const limit = Math.min(MAX_PAGE_SIZE, Number(c.req.query("limit") ?? DEFAULT_PAGE_SIZE));
  if (!(Number.isInteger(page) && page >= 1)) throw unprocessable(["page"], "Input should be greater than 0");
  if (!(Number.isInteger(limit) && limit >= 1))
    throw unprocessable(["limit"], "Input should be greater than 0");
  const pagination = { total_count: items.length, max_page: Math.ceil(items.length / limit) };
  return { page: items.slice((page - 1) * limit, page * limit), pagination };
}
