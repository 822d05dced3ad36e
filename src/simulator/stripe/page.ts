import { invalid, missing } from "./errors.ts";

const MAX_PAGE_SIZE = 100;
const DEFAULT_PAGE_SIZE = 10;

type Query = Pick<URLSearchParams, "get">;

/** One page of a list, newest first. https://docs.stripe.com/api/pagination */
export function pageOf<Item>(
  listed: readonly Item[],
  { object, idOf }: { object: string; idOf(item: Item): string },
  query: Query,
): { page: Item[]; hasMore: boolean } {
  const limit = Number(query.get("limit") ?? DEFAULT_PAGE_SIZE);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE_SIZE)
    throw invalid("Invalid integer: limit", "limit");
  const positionOf = (id: string, parameter: string) => {
    const position = listed.findIndex((item) => idOf(item) === id);
    if (position < 0) throw missing(object, id, parameter);
    return position;
  };
  const after = query.get("starting_after");
  const before = query.get("ending_before");
  if (before !== null) {
    const end = positionOf(before, "ending_before");
    return { page: listed.slice(Math.max(0, end - limit), end), hasMore: end - limit > 0 };
  }
  const start = after === null ? 0 : positionOf(after, "starting_after") + 1;
  return { page: listed.slice(start, start + limit), hasMore: start + limit < listed.length };
}
