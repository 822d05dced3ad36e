import { z } from "zod";
import { INTERVALS } from "../../domain/plans/plan.ts";

/** A price of a plan, wherever it is shown. */
export const PriceView = z.object({
  amount: z.int().describe("In the currency's smallest unit, per seat and interval."),
  currency: z.string().describe("ISO 4217."),
  interval: z.enum(INTERVALS).describe("How often it is paid."),
});
