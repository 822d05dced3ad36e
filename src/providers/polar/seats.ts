import { getProducts } from "@polar-sh/sdk/2026-10/services/products";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { pathSegment } from "../outbound/path-segment.ts";
import { textAt, wholeNumberAt } from "../outbound/response-fields.ts";
import type { PolarClient } from "./client.ts";

/** Read from the product: every refusal of `seats` has the same type, `value_error`. */
export async function hasSeats(
  provider: ConnectedProvider,
  client: PolarClient,
  productId: string,
): Promise<boolean> {
  const { prices } = await getProducts(client)(pathSegment(provider, productId));
  return prices.some(isSeatBased);
}

/** How few seats a product's prices allow. */
export function minimumSeats(prices: readonly unknown[]): number {
  return seatLimit(prices, "minimum_seats") ?? 1;
}

/** Whether a product's prices allow this number of seats. */
export function allowsSeats(prices: readonly unknown[], seats: number): boolean {
  const maximum = seatLimit(prices, "maximum_seats");
  return seats >= minimumSeats(prices) && (maximum === null || seats <= maximum);
}

function seatLimit(prices: readonly unknown[], limit: "minimum_seats" | "maximum_seats"): number | null {
  return wholeNumberAt(prices.find(isSeatBased), "seat_tiers", limit);
}

function isSeatBased(price: unknown): boolean {
  return textAt(price, "amount_type") === "seat_based";
}
