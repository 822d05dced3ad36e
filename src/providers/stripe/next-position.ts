import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { requiredFlag, requiredText } from "../outbound/response-fields.ts";

/**
 * The item behind which the next page begins; `null`: this is the last page.
 * https://docs.stripe.com/api/pagination
 * @throws PaymentApiProblem when the page does not say whether there are more
 */
export function nextPosition(provider: ConnectedProvider, page: { data: readonly unknown[] }): string | null {
  return requiredFlag(provider, page, "has_more") ? requiredText(provider, page.data.at(-1), "id") : null;
}
