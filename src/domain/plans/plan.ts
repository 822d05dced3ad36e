import { z } from "zod";
import { parseDefinitions } from "../parse-definitions.ts";
import { SLOTS, type Slot } from "../slot.ts";
import { SUBSCRIPTION_STATUSES } from "../subscriptions/subscription-status.ts";
import { Feature, type FeatureKind } from "./feature.ts";
import type { PaidItem } from "./paid-item.ts";

/** How often a price is paid. */
export const INTERVALS = ["month", "year"] as const;

export type Interval = (typeof INTERVALS)[number];

const PriceIds = z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]);

/**
 * A price's ids per slot. The first is used for new checkouts; others (former prices) are recognised in
 * events. Where `PLANS_PRICE_IDS` is set they are names, which it maps to the ids of the environment.
 */
const PriceIdsPerSlot = z.partialRecord(z.enum(SLOTS), PriceIds, {
  error: ({ keys }) =>
    keys === undefined ? undefined : `${keys}: not a slot, use one of ${SLOTS.join(", ")}`,
});

const Price = z.strictObject({
  /** In the currency's smallest unit, per seat and interval. */
  amount: z
    .int("use a whole number of the currency's smallest unit, such as 2050 for 20.50")
    .min(0, "use 0 or more"),
  currency: z.string().regex(/^[A-Z]{3}$/, "use an ISO 4217 code such as EUR"),
  interval: z.enum(INTERVALS),
});

const AccessStatus = z.enum(SUBSCRIPTION_STATUSES).exclude(["past_due", "canceled"]);

const UnknownPrices = z.enum(["accept", "refuse"]);

const AfterReversal = z.enum(["end_access", "keep_access"]);

/** When a subscription gives access, where a plan does not say, or is no longer in `plans.config.ts`. */
export const DEFAULT_ACCESS_RULES = {
  accessStatuses: ["trialing", "active"] as z.infer<typeof AccessStatus>[],
  graceDays: 7,
  afterRefund: "end_access",
  afterDispute: "end_access",
} as const;

const Plan = z.strictObject({
  id: z.string().regex(/^[a-z][a-z0-9_-]{0,49}$/, "use lower-case letters, digits, - and _"),
  name: z.string().min(1).max(100),
  /** The price that is shown first and bought unless another is chosen. */
  price: Price,
  /** In the order in which the pages show them. One that is not listed is off, or zero. */
  features: z
    .array(Feature)
    .refine((features) => isUnique(features.map(({ id }) => id)), "a feature is listed twice"),
  seats: z
    .strictObject({ min: z.int().min(1), max: z.int().min(1) })
    .refine(({ min, max }) => min <= max, "min is greater than max"),
  priceIds: PriceIdsPerSlot,
  /** The plan's other prices: another interval or currency, at most one of each pair. */
  prices: z.array(Price.extend({ priceIds: PriceIdsPerSlot })).default([]),
  /** The statuses in which a subscription gives access; `past_due` does for `graceDays`, `canceled` never. */
  accessStatuses: z
    .array(AccessStatus)
    .refine((statuses) => isUnique(statuses), "a status is listed twice")
    .refine((statuses) => statuses.includes("active"), "active is missing")
    .default(DEFAULT_ACCESS_RULES.accessStatuses),
  /** For how long access stays after a renewal has failed, in days; 0: `past_due` gives none. */
  graceDays: z.int().min(0).max(90).default(DEFAULT_ACCESS_RULES.graceDays),
  /** A free trial at the start of a person's first subscription, in days; 0: none. */
  trialDays: z.int().min(0).max(730).default(0),
  /** Whether access ends once the latest payment has been refunded in full. */
  afterRefund: AfterReversal.default(DEFAULT_ACCESS_RULES.afterRefund),
  /** Whether access ends once the latest payment is disputed. */
  afterDispute: AfterReversal.default(DEFAULT_ACCESS_RULES.afterDispute),
  /**
   * Whether metadata alone makes a purchase one of this plan, at a price that no plan has. At Paddle and Lemon Squeezy
   * buyers can write metadata, and name plans that only another slot sells.
   */
  unknownPrices: UnknownPrices.default("accept"),
});

export type Plan = z.infer<typeof Plan>;

type SoldPrice = Plan["prices"][number];

const Plans = z
  .array(Plan)
  .min(1)
  .superRefine((plans, context) => {
    const problems = new Set<string>();
    const names = new Set<string>();
    for (const plan of plans) {
      for (const name of [plan.id, ...slotPriceIds(plan)]) {
        if (names.has(name)) problems.add(`"${name}" is used twice`);
        names.add(name);
      }
      const offers = new Set<string>();
      for (const { interval, currency } of pricesOf(plan)) {
        const offer = `${currency} per ${interval}`;
        if (offers.has(offer)) problems.add(`"${plan.id}" has two prices in ${offer}`);
        offers.add(offer);
      }
    }
    const kinds = new Map<string, FeatureKind>();
    for (const { id, kind } of plans.flatMap(({ features }) => features)) {
      const firstKind = kinds.get(id) ?? kind;
      if (firstKind !== kind) problems.add(`"${id}" is a ${firstKind} and a ${kind}`);
      kinds.set(id, firstKind);
    }
    for (const message of problems) context.addIssue({ code: "custom", message });
  });

export type PlanCatalog = {
  readonly plans: readonly Plan[];
  /** `undefined`: the id is unknown, or no longer in the file. */
  find(planId: string): Plan | undefined;
  /** The first item that matches a plan in this slot, with that plan. */
  sold(slot: Slot, items: readonly PaidItem[]): { planId: string; priceId: string; item: PaidItem } | null;
  /**
   * Replaces the price ids of the file by those of the environment. @throws Error naming an unknown or
   * repeated one
   */
  withPriceIds(priceIds: PriceIdMap): PlanCatalog;
};

/** From the ids in `plans.config.ts` to those of an environment, per slot. */
type PriceIdMap = Partial<Record<Slot, Readonly<Record<string, string>>>>;

/** Checks `plans.config.ts`. @throws Error naming the plan and what is wrong with it. */
export function definePlans(definitions: z.input<typeof Plans>): PlanCatalog {
  return catalogOf(parseDefinitions("plans.config.ts", Plans, definitions));
}

function catalogOf(plans: readonly Plan[]): PlanCatalog {
  const planById = new Map(plans.map((plan) => [plan.id, plan]));
  const planByPrice = new Map(
    plans.flatMap((plan) => slotPriceIds(plan).map((price) => [price, plan.id] as const)),
  );
  return {
    plans,
    find: (planId) => planById.get(planId),
    sold(slot, items) {
      for (const item of items) {
        for (const priceId of item.priceIds) {
          const planId = planByPrice.get(`${slot} ${priceId}`);
          if (planId) return { planId, priceId, item };
        }
      }
      return null;
    },
    withPriceIds: (priceIds) => catalogOf(Plans.parse(replacePriceIds(plans, priceIds))),
  };
}

/** All prices of a plan, the one that is shown first in front. */
export function pricesOf({
  price,
  priceIds,
  prices,
}: Pick<Plan, "price" | "priceIds" | "prices">): SoldPrice[] {
  return [{ ...price, priceIds }, ...prices];
}

/** The plan's price with this id in the slot; `undefined`: the id is unknown, or no longer in the plan. */
export function priceWithId(plan: Plan, slot: Slot, priceId: string | null): SoldPrice | undefined {
  if (priceId === null) return undefined;
  return pricesOf(plan).find((price) => priceIdsIn(slot, price).includes(priceId));
}

/** The prices that some slot sells, and free ones. A plan without any is retired. */
export function pricesForSale(plan: Plan): SoldPrice[] {
  return pricesOf(plan).filter(
    (price) => price.amount === 0 || SLOTS.some((slot) => priceIdsIn(slot, price).length > 0),
  );
}

/** The ids of a price in a slot, the one for new checkouts first. */
export function priceIdsIn(slot: Slot, { priceIds }: Pick<SoldPrice, "priceIds">): string[] {
  return [priceIds[slot] ?? []].flat();
}

function slotPriceIds(plan: Plan): string[] {
  return SLOTS.flatMap((slot) =>
    pricesOf(plan).flatMap((price) => priceIdsIn(slot, price).map((id) => `${slot} ${id}`)),
  );
}

function replacePriceIds(plans: readonly Plan[], map: PriceIdMap): Plan[] {
  const unused = new Set(
    SLOTS.flatMap((slot) => Object.keys(map[slot] ?? {}).map((name) => `${slot} ${name}`)),
  );
  const replace = (priceIds: Plan["priceIds"]): Plan["priceIds"] =>
    Object.fromEntries(
      SLOTS.flatMap((slot) => {
        const ids = priceIdsIn(slot, { priceIds });
        if (ids.length === 0) return [];
        const replaced = ids.map((id) => {
          unused.delete(`${slot} ${id}`);
          return map[slot]?.[id] ?? id;
        });
        return [[slot, replaced]];
      }),
    );
  const replaced = plans.map((plan) => ({
    ...plan,
    priceIds: replace(plan.priceIds),
    prices: plan.prices.map((price) => ({ ...price, priceIds: replace(price.priceIds) })),
  }));
  const [unusedPriceId] = unused;
  if (unusedPriceId !== undefined)
    throw new Error(`no plan in plans.config.ts has the price id "${unusedPriceId}"`);
  return replaced;
}

function isUnique(values: readonly string[]): boolean {
  return new Set(values).size === values.length;
}
