import type { Context } from "hono";
import { matchesAny } from "../http/matches.ts";
import type { ProviderSlot } from "../server/provider-slot.ts";
import { invalidField, paged } from "./errors.ts";

const MAX_PAGE_SIZE = 200;
const DEFAULT_PAGE_SIZE = 50;

type ListedAs<Item> = {
  path: string;
  idOf(item: Item): string;
  show(item: Item): object;
  maxPageSize?: number;
};

/**
 * One page behind a cursor, the id of the last item seen.
 * https://developer.paddle.com/api-reference/about/pagination
 */
export function cursorPage<Item>(
  c: Context,
  slot: ProviderSlot,
  inOrder: readonly Item[],
  { path, idOf, show, maxPageSize = MAX_PAGE_SIZE }: ListedAs<Item>,
): Response {
  const query = new URL(c.req.url).searchParams;
  const requested = Number(query.get("per_page") ?? DEFAULT_PAGE_SIZE);
  if (!(Number.isInteger(requested) && requested >= 1))
    throw invalidField("per_page", "must be a whole number of at least 1");
  // A larger size is reduced, not refused.
  const perPage = Math.min(maxPageSize, requested);
  const selected = inOrder.filter(matchesAny(c, "id", idOf));
  const listed = query.get("order_by")?.endsWith("[DESC]") ? selected.toReversed() : selected;
  const after = query.get("after");
  const start = after === null ? 0 : listed.findIndex((item) => idOf(item) === after) + 1;
  if (after !== null && start === 0) throw invalidField("after", "names nothing in this list");
  const page = listed.slice(start, start + perPage);
  const last = page.at(-1);
  if (last !== undefined) query.set("after", idOf(last));
  return paged(c, page.map(show), {
    per_page: perPage,
    next: `${slot.url()}${path}?${query}`,
    has_more: start + perPage < listed.length,
    estimated_total: listed.length,
  });
}

export function isIncluded(c: Context, name: string): boolean {
  return c.req.query("include")?.split(",").includes(name) ?? false;
}
