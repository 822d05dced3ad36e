import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { hasMore } from "../outbound/page-end.ts";
import { requiredText } from "../outbound/response-fields.ts";

/** The most that Stripe returns at once: what every list is asked for. */
export const PAGE_SIZE = 100;

/**
 * The item behind which the next page begins; `null`: this is the last page.
 * https://docs.stripe.com/api/pagination
 * @throws PaymentApiProblem
 */
export function nextPosition(provider: ConnectedProvider, page: { data: readonly unknown[] }): string | null {
  const { data: items } = page;
  return hasMore(provider, page, { items, size: PAGE_SIZE, field: ["has_more"] })
    ? requiredText(provider, items.at(-1), "id")
    : null;
}
