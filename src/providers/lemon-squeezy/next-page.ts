import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { hasFurtherPages } from "../outbound/page-end.ts";
import { listAt } from "../outbound/response-fields.ts";

/**
 * The number of the next page; `null`: this is the last one.
 * https://docs.lemonsqueezy.com/api/getting-started/requests
 * @param page the number of this one, from 1
 * @param size how many items were asked for
 * @throws PaymentApiProblem
 */
export function nextPage(
  provider: ConnectedProvider,
  response: unknown,
  { page, size }: { page: number; size: number },
): number | null {
  const list = { items: listAt(response, "data"), size, field: ["meta", "page", "lastPage"] };
  return hasFurtherPages(provider, response, { ...list, number: page }) ? page + 1 : null;
}
