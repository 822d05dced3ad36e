import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { hasMore } from "../outbound/page-end.ts";
import { listAt, requiredText } from "../outbound/response-fields.ts";

/**
 * The item behind which the next page begins; `null`: this is the last page. The page's `next` is a full URL: it is
 * not used, so that the key is sent only to the configured API.
 * https://developer.paddle.com/api-reference/about/pagination
 * @param size how many items were asked for
 * @param idName the name of the items' id
 * @throws PaymentApiProblem
 */
export function nextPosition(
  provider: ConnectedProvider,
  page: unknown,
  { size, idName = "id" }: { size: number; idName?: string },
): string | null {
  const items = listAt(page, "data");
  return hasMore(provider, page, { items, size, field: ["meta", "pagination", "has_more"] })
    ? requiredText(provider, items.at(-1), idName)
    : null;
}
