import type { Context } from "hono";
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
  const selected = inOrder.filter((item) => isAmong(c, "id", idOf(item)));
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

/** Whether a filter of comma-separated values allows one; without the filter, every value is. */
export function isAmong(c: Context, name: string, value: string | null): boolean {
  const allowedValues = valuesOf(c, name);
  return allowedValues === null || (value !== null && allowedValues.has(value));
}

const FILTERS = new WeakMap<Context, Map<string, ReadonlySet<string> | null>>();

/** Read once per request: a list can have 100,000 items. `null`: no filter. */
function valuesOf(c: Context, name: string): ReadonlySet<string> | null {
  const filtersByName = FILTERS.get(c) ?? new Map<string, ReadonlySet<string> | null>();
  FILTERS.set(c, filtersByName);
  let values = filtersByName.get(name);
  if (values === undefined) {
    const filter = c.req.query(name);
    values = filter === undefined ? null : new Set(filter.split(","));
    filtersByName.set(name, values);
  }
  return values;
}

export function isIncluded(c: Context, name: string): boolean {
  return c.req.query("include")?.split(",").includes(name) ?? false;
}
