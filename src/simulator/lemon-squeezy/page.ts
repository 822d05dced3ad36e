import type { Context } from "hono";
import { LemonSqueezyProblem } from "./errors.ts";

const MAX_PAGE_SIZE = 100;
const DEFAULT_PAGE_SIZE = 10;

/** https://docs.lemonsqueezy.com/api/getting-started/requests#pagination */
export function numberedPage<Item>(c: Context, items: readonly Item[]) {
  const number = Number(c.req.query("page[number]") ?? 1);
  const perPage = Math.min(MAX_PAGE_SIZE, Number(c.req.query("page[size]") ?? DEFAULT_PAGE_SIZE));
  if (!(number >= 1 && perPage >= 1)) throw new LemonSqueezyProblem(400, "The page is invalid.");
  const from = (number - 1) * perPage;
  const page = items.slice(from, from + perPage);
  const lastPage = Math.max(1, Math.ceil(items.length / perPage));
  const to = from + page.length;
  return { page, meta: { currentPage: number, from: from + 1, lastPage, perPage, to, total: items.length } };
}
