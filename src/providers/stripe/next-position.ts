import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { hasMore } from "../outbound/page-end.ts";
import { requiredText } from "../outbound/response-fields.ts";

/**
 * The item behind which the next page begins; `null`: this is the last page.
 * https://docs.stripe.com/api/pagination
 * @param size how many items were asked for
 * @throws PaymentApiProblem
 */
export function nextPosition(
  provider: ConnectedProvider,
  page: { data: readonly unknown[] },
  size: number,
): string | null {
  const { data: items } = page;
  return hasMore(provider, page, { items, size, field: ["has_more"] })
    ? requiredText(provider, items.at(-1), "id")
    : null;
}
