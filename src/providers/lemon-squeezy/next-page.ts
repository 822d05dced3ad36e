import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { hasFurtherPages } from "../outbound/page-end.ts";
import { listAt } from "../outbound/response-fields.ts";

/** The most that Lemon Squeezy returns at once: what every list is asked for. */
export const PAGE_SIZE = 100;

/**
 * The number of the next page; `null`: this is the last one.
 * https://docs.lemonsqueezy.com/api/getting-started/requests
 * @param page the number of this one, from 1
 * @throws PaymentApiProblem
 */
export function nextPage(provider: ConnectedProvider, response: unknown, page: number): number | null {
  const list = { items: listAt(response, "data"), size: PAGE_SIZE, field: ["meta", "page", "lastPage"] };
  return hasFurtherPages(provider, response, { ...list, number: page }) ? page + 1 : null;
}
