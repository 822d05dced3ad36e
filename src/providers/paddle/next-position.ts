import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { listAt, requiredFlag, requiredText } from "../outbound/response-fields.ts";

/**
 * The item behind which the next page begins; `null`: this is the last page. The page's `next` is a full URL: it is
 * not used, so that the key is sent only to the configured API.
 * https://developer.paddle.com/api-reference/about/pagination
 * @param idName the name of the items' id
 * @throws PaymentApiProblem when the page does not say whether there are more
 */
export function nextPosition(provider: ConnectedProvider, page: unknown, idName = "id"): string | null {
  const hasMore = requiredFlag(provider, page, "meta", "pagination", "has_more");
  return hasMore ? requiredText(provider, listAt(page, "data").at(-1), idName) : null;
}
