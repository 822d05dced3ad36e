import type { ChangeOrder } from "../../domain/providers/payment-api.ts";
import { minimumSeats } from "./seats.ts";

type Step = { product_id: string } | { seats: number };

type Present = { seats?: number | null; prices?: readonly unknown[] | null };

/**
 * The requests of a change, in their order. A product is charged at once for the seats that there are, and fails where
 * its tiers do not cover them: fewer seats come first, as few as the present product allows.
 */
export function changeSteps(
  { seats: presentSeats, prices }: Present,
  { when, priceId, seats }: Pick<ChangeOrder, "when" | "priceId" | "seats">,
): Step[] {
  if (priceId === null) return seats === null ? [] : [{ seats }];
  if (seats === null) return [{ product_id: priceId }];
  const isFewerNow = when === "now" && typeof presentSeats === "number" && seats < presentSeats;
  const seatsBefore = isFewerNow ? Math.max(seats, minimumSeats(prices ?? [])) : seats;
  if (!isFewerNow || seatsBefore >= presentSeats) return [{ product_id: priceId }, { seats }];
  return [{ seats: seatsBefore }, { product_id: priceId }, ...(seatsBefore === seats ? [] : [{ seats }])];
}
