import type { z } from "zod";
import type { listPlans } from "../../../operations/plans/list-plans.ts";

type Plan = z.output<typeof listPlans.output>["items"][number];

export type PriceOption = Pick<Plan["price"], "interval" | "currency">;

/** The plan's price for an interval and currency, else its first one in that currency, else its first. */
export function priceFor(
  { price, prices }: Pick<Plan, "price" | "prices">,
  wanted: PriceOption | undefined,
): Plan["price"] {
  const inCurrency = prices.filter(({ currency }) => currency === wanted?.currency);
  return inCurrency.find(({ interval }) => interval === wanted?.interval) ?? inCurrency[0] ?? price;
}
