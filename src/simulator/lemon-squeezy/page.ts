import type { Context } from "hono";
import { matches } from "../http/matches.ts";
import type { ProviderSlot } from "../server/provider-slot.ts";
import { document, LemonSqueezyProblem } from "./errors.ts";

const MAX_PAGE_SIZE = 100;
const DEFAULT_PAGE_SIZE = 10;

/** https://docs.lemonsqueezy.com/api/getting-started/requests#pagination */
export function numberedPage<Item>(
  c: Context,
  slot: ProviderSlot,
  items: readonly Item[],
  show: (item: Item) => object,
): Response {
  const number = wholeNumber(c, "page[number]", 1);
  // A larger size is reduced, not refused.
  const perPage = Math.min(MAX_PAGE_SIZE, wholeNumber(c, "page[size]", DEFAULT_PAGE_SIZE));
  const start = (number - 1) * perPage;
  const page = items.slice(start, start + perPage);
  const lastPage = Math.max(1, Math.ceil(items.length / perPage));
  const [from, to] = page.length === 0 ? [null, null] : [start + 1, start + page.length];
  const linkTo = (target: number) => {
    const query = new URL(c.req.url).searchParams;
    query.set("page[number]", String(target));
    query.set("page[size]", String(perPage));
    return `${slot.url()}${c.req.path.replace(`/${slot.name}/`, "/")}?${query}`;
  };
  return document(c, {
    meta: { page: { currentPage: number, from, lastPage, perPage, to, total: items.length } },
    links: {
      first: linkTo(1),
      last: linkTo(lastPage),
      ...(number > 1 ? { prev: linkTo(number - 1) } : {}),
      ...(number < lastPage ? { next: linkTo(number + 1) } : {}),
    },
    data: page.map(show),
  });
}

/** Filters the items of a list; without the filter every item matches. */
export function isAllowed<Item>(c: Context, filter: string, valueIn: (item: Item) => string) {
  return matches(c, `filter[${filter}]`, valueIn);
}

function wholeNumber(c: Context, name: string, fallback: number): number {
  const value = Number(c.req.query(name) ?? fallback);
  if (Number.isInteger(value) && value >= 1) return value;
  throw new LemonSqueezyProblem(400, `The ${name} must be a number of at least 1.`, { parameter: name });
}
