import type { ChangeOrder } from "../../domain/providers/payment-api.ts";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { problem, RefusedByProvider } from "../outbound/problems.ts";
import type { PolarClient } from "./client.ts";
import { allowsSeats, hasSeats } from "./seats.ts";

type Change = { subscription: { seats?: number | null; prices: readonly unknown[] }; order: ChangeOrder };

/** Tells a change that Polar never makes from a mistake in the request, which it refuses with the same errors. */
export async function explainRefusal(
  provider: ConnectedProvider,
  client: PolarClient,
  change: Change,
  send: () => Promise<void>,
): Promise<void> {
  try {
    await send();
  } catch (error) {
    if (!(error instanceof RefusedByProvider)) throw error;
    if (isOutsideCurrentProduct(change, error)) throw outsideCurrentProduct(provider);
    if (!(await isNotOffered(provider, client, change, error))) throw error;
    throw problem(provider, "unsupported", `it never makes such a change (${error.code})`);
  }
}

/**
 * Seats for the next period are checked against the product that is paid now, but only once the other product has been
 * accepted, which has to cover the present seats.
 */
function isOutsideCurrentProduct(
  { subscription, order: { when, priceId, seats } }: Change,
  { code }: RefusedByProvider,
): boolean {
  if (when === "now" || priceId === null) return false;
  if (code === "InvalidQuantityError") return seats !== null && !allowsSeats(subscription.prices, seats);
  return code === "AboveMaximumSeats" || code === "BelowMinimumSeats";
}

export function outsideCurrentProduct(provider: ConnectedProvider): RefusedByProvider {
  const detail = "seats for the next period must be within the present product's limits";
  return problem(provider, "unsupported", detail, { obstacle: "seats_outside_current_plan" });
}

async function isNotOffered(
  provider: ConnectedProvider,
  client: PolarClient,
  { subscription, order: { when, priceId, seats } }: Change,
  { code }: RefusedByProvider,
): Promise<boolean> {
  if (priceId === null || code === null) return false;
  // From a product with seats to one without, at any time.
  if (code === "body.product_id" && typeof subscription.seats === "number")
    return !(await hasSeats(provider, client, priceId).catch(() => true));
  // The other way round, with the next period.
  if (code === "body.proration_behavior") return true;
  // Even the present product's minimum is too many for the other one. Unchanged seats: a mistake in the plans.
  if (code === "InvalidQuantityError") return seats !== null && seats < (subscription.seats ?? 0);
  return when === "period_end" && code === "NotASeatBasedSubscription";
}
