import type { ConnectedProvider } from "./connected-provider.ts";
import { problem, type RefusedByProvider } from "./problems.ts";

/**
 * For a subscription of several items, none of which has the price that is known here: it has just been
 * changed elsewhere, and in place of an add-on the new plan would be paid besides the present one.
 */
export function unknownItem(provider: ConnectedProvider): RefusedByProvider {
  return problem(provider, "rejected", "no item of the subscription has its plan's price", {
    remedy: "Try again when the provider has reported its last change.",
  });
}
