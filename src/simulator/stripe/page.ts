import type { Context } from "hono";
import { invalid, missing } from "./errors.ts";

const MAX_PAGE_SIZE = 100;
const DEFAULT_PAGE_SIZE = 10;

type ListedAs<Item> = {
  /** The resource's name in errors. */
  object: string;
  url: string;
  idOf(item: Item): string;
  show(item: Item): object;
};

/** One page of a list, newest first. https://docs.stripe.com/api/pagination */
export function listResponse<Item>(c: Context, listed: readonly Item[], as: ListedAs<Item>): Response {
  const { page, hasMore } = pageOf(listed, as, new URL(c.req.url).searchParams);
  return c.json({ object: "list", url: as.url, has_more: hasMore, data: page.map(as.show) });
}

function pageOf<Item>(
  listed: readonly Item[],
  { object, idOf }: ListedAs<Item>,
  query: URLSearchParams,
): { page: Item[]; hasMore: boolean } {
  const limit = Number(query.get("limit") ?? DEFAULT_PAGE_SIZE);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE_SIZE)
    throw invalid(`Invalid integer: ${query.get("limit")}`, "limit", "parameter_invalid_integer");
  const positionOf = (id: string, parameter: string) => {
    const position = listed.findIndex((item) => idOf(item) === id);
    if (position < 0) throw missing(object, id, parameter, 400);
    return position;
  };
  const after = query.get("starting_after");
  const before = query.get("ending_before");
  if (after !== null && before !== null)
    throw invalid("You cannot use both ending_before and starting_after.", "ending_before");
  if (before !== null) {
    const end = positionOf(before, "ending_before");
    return { page: listed.slice(Math.max(0, end - limit), end), hasMore: end - limit > 0 };
  }
  const start = after === null ? 0 : positionOf(after, "starting_after") + 1;
  return { page: listed.slice(start, start + limit), hasMore: start + limit < listed.length };
}

/** Filters the items of a list by `created` and its siblings, such as `created[gte]`. */
export function isCreatedWithin<Item>(
  c: Context,
  createdAtSeconds: (item: Item) => number,
): (item: Item) => boolean {
  const bound = (name: string, unbounded: number) => Number(c.req.query(name) ?? unbounded);
  const gte = bound("created[gte]", 0);
  const gt = bound("created[gt]", -1);
  const lte = bound("created[lte]", Number.POSITIVE_INFINITY);
  const lt = bound("created[lt]", Number.POSITIVE_INFINITY);
  const exact = c.req.query("created");
  return (item) => {
    const at = createdAtSeconds(item);
    return at >= gte && at > gt && at <= lte && at < lt && (exact === undefined || at === Number(exact));
  };
}
