import { z } from "zod";
import { LOCALES, type Locale } from "../../domain/locale.ts";
import { negotiateLocale } from "../../domain/negotiate-locale.ts";
import { shownFeatures } from "../../domain/plans/feature.ts";
import { type Plan, type PlanCatalog, pricesForSale, pricesOf } from "../../domain/plans/plan.ts";
import { defineOperation } from "../operation.ts";
import { malformedCursor, PAGE, pageOf } from "../page.ts";
import { FEATURE_ID_DESCRIPTION, FEATURE_VALUE } from "./feature-value-view.ts";
import { PriceView } from "./price-view.ts";

const FeatureDetails = z
  .object({
    id: z.string().describe(FEATURE_ID_DESCRIPTION),
    ...FEATURE_VALUE,
    text: z.string().describe("Its text in the caller's language."),
  })
  .meta({ id: "FeatureDetails", description: "A feature of a plan, for programs." });

const PlanView = z
  .object({
    id: z.string().describe("The plan's id in `plans.config.ts`."),
    name: z.string().describe("The plan's name."),
    price: PriceView.describe("The first of `prices`."),
    prices: z
      .array(PriceView)
      .describe("The prices at which it is sold, the default one first; of a retired plan, the former ones."),
    trialDays: z.int().describe("Days of a free trial; 0: none."),
    features: z.array(z.string()).describe("What it includes, in the caller's language."),
    featureDetails: z.array(FeatureDetails).describe("The same in machine-readable form."),
    seats: z
      .object({ min: z.int().describe("The fewest seats."), max: z.int().describe("The most seats.") })
      .describe("How many seats it can have."),
    isForSale: z.boolean().describe("`false`: retired; it is shown for those who still have it."),
  })
  .meta({ id: "Plan", description: "A plan." });

export const listPlans = defineOperation({
  name: "plans.list",
  summary: "Lists the plans",
  access: "anyone",
  limit: "api",
  input: z.strictObject({
    ...PAGE,
    locale: z.enum(LOCALES).optional().describe("The language of the texts; defaults to `Accept-Language`."),
  }),
  reasons: [],
  output: pageOf(PlanView),
  run: async (deps: { plans: PlanCatalog }, _caller, { limit, cursor, locale }, { acceptLanguage }) => {
    // There are a few, in the order of their file: a cursor is the id of the plan that the page begins with.
    const { plans } = deps.plans;
    const start = cursor === null ? 0 : plans.findIndex((plan) => plan.id === cursor);
    if (start < 0) malformedCursor();
    const language = locale ?? negotiateLocale(acceptLanguage);
    return {
      items: plans.slice(start, start + limit).map((plan) => viewOf(plan, language)),
      nextCursor: plans[start + limit]?.id ?? null,
    };
  },
});

function viewOf(plan: Plan, locale: Locale): z.input<typeof PlanView> {
  const { id, name, features, seats, trialDays } = plan;
  const forSale = pricesForSale(plan);
  const prices = (forSale.length > 0 ? forSale : pricesOf(plan)).map(({ priceIds: _, ...price }) => price);
  return {
    id,
    name,
    price: prices[0] ?? plan.price,
    seats,
    trialDays,
    prices,
    features: shownFeatures(features).map(({ text }) => text[locale]),
    featureDetails: features.map(({ id, kind, value, text }) => ({ id, kind, value, text: text[locale] })),
    isForSale: forSale.length > 0,
  };
}
