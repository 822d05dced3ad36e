import { z } from "zod";
import type { PaidItem } from "./payment-event.ts";
import { SLOTS, type Slot } from "./slot.ts";

const PriceIds = z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]);

const Plan = z.strictObject({
  id: z.string().regex(/^[a-z][a-z0-9_-]{0,49}$/, "use lower-case letters, digits, - and _"),
  name: z.string().min(1).max(100),
  price: z.strictObject({
    /** In the currency's smallest unit, per seat and interval. */
    amount: z.int().min(0),
    currency: z.string().regex(/^[A-Z]{3}$/, "use an ISO 4217 code such as EUR"),
    interval: z.enum(["month", "year"]),
  }),
  features: z.array(z.string().min(1)),
  seats: z
    .strictObject({ min: z.int().min(1), max: z.int().min(1) })
    .refine(({ min, max }) => min <= max, "min is greater than max"),
  /**
   * The price ids of this plan per slot. The first is used for new checkouts; others (yearly or former prices) are
   * recognised in events.
   */
  priceIds: z.partialRecord(z.enum(SLOTS), PriceIds),
});

type Plan = z.infer<typeof Plan>;

const Plans = z
  .array(Plan)
  .min(1)
  .superRefine((plans, context) => {
    const seen = new Set<string>();
    for (const plan of plans) {
      for (const name of [plan.id, ...pricesOf(plan)]) {
        if (seen.has(name)) context.addIssue({ code: "custom", message: `"${name}" is used twice` });
        seen.add(name);
      }
    }
  });

export type PlanCatalog = {
  readonly plans: readonly Plan[];
  has(planId: string): boolean;
  /** The first item that matches a plan in this slot, with that plan. */
  sold(slot: Slot, items: readonly PaidItem[]): { planId: string; priceId: string; item: PaidItem } | null;
};

/** Checks `plans.config.ts`. @throws ZodError naming the plan and what is wrong with it. */
export function definePlans(plans: z.input<typeof Plans>): PlanCatalog {
  const checked = Plans.parse(plans);
  const ids = new Set(checked.map((plan) => plan.id));
  const planByPrice = new Map(
    checked.flatMap((plan) => pricesOf(plan).map((price) => [price, plan.id] as const)),
  );
  return {
    plans: checked,
    has: (planId) => ids.has(planId),
    sold(slot, items) {
      for (const item of items) {
        for (const priceId of item.priceIds) {
          const planId = planByPrice.get(`${slot} ${priceId}`);
          if (planId) return { planId, priceId, item };
        }
      }
      return null;
    },
  };
}

function pricesOf(plan: Plan): string[] {
  return SLOTS.flatMap((slot) => [plan.priceIds[slot] ?? []].flat().map((id) => `${slot} ${id}`));
}
