import type { Context } from "hono";
import { invalidField, paged } from "./errors.ts";

const MAX_PAGE_SIZE = 200;
const DEFAULT_PAGE_SIZE = 50;

type ListedAs<Item> = { path: string; idOf(item: Item): string; show(item: Item): object };

/** One page behind a cursor, the id of the last item seen. https://developer.paddle.com/api-reference/about/pagination */
export function cursorPage<Item>(
  c: Context,
  inOrder: readonly Item[],
  { path, idOf, show }: ListedAs<Item>,
): Response {
  const query = new URL(c.req.url).searchParams;
  const perPage = Math.min(MAX_PAGE_SIZE, Number(query.get("per_page") ?? DEFAULT_PAGE_SIZE));
  if (!(perPage >= 1)) throw invalidField("per_page", "must be at least 1");
  const listed = /\[DESC\]/i.test(query.get("order_by") ?? "") ? inOrder.toReversed() : inOrder;
  const after = query.get("after");
  const start = after === null ? 0 : listed.findIndex((item) => idOf(item) === after) + 1;
  if (after !== null && start === 0) throw invalidField("after", "names nothing in this list");
  const page = listed.slice(start, start + perPage);
  const last = page.at(-1);
  if (last !== undefined) query.set("after", idOf(last));
  return paged(c, page.map(show), {
    per_page: perPage,
    next: `${path}?${query}`,
    has_more: start + perPage < listed.length,
    estimated_total: listed.length,
  });
}
