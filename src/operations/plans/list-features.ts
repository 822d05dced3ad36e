import { z } from "zod";
import { LOCALES } from "../../domain/locale.ts";
import { negotiateLocale } from "../../domain/negotiate-locale.ts";
import { shownFeatures } from "../../domain/plans/feature.ts";
import type { PlanCatalog } from "../../domain/plans/plan.ts";
import { defineOperation } from "../operation.ts";

const FeatureView = z
  .object({
    name: z.string().describe("Its text in the caller's language."),
    planIds: z
      .array(z.string())
      .describe("The plans that include it, in the order in which plans are listed."),
  })
  .meta({ id: "Feature", description: "A feature, with the plans that include it." });

export const listFeatures = defineOperation({
  name: "plans.features",
  summary: "Lists the features of all plans, each with the plans that include it",
  access: "anyone",
  limit: "api",
  input: z.strictObject({
    locale: z.enum(LOCALES).optional().describe("The language of the texts; defaults to `Accept-Language`."),
  }),
  reasons: [],
  output: z.object({ features: z.array(FeatureView) }),
  run: async (deps: { plans: PlanCatalog }, _caller, input, { acceptLanguage }) => {
    const locale = input.locale ?? negotiateLocale(acceptLanguage);
    const texts = deps.plans.plans.map(({ id, features }) => ({
      id,
      names: shownFeatures(features).map(({ text }) => text[locale]),
    }));
    return {
      features: [...new Set(texts.flatMap(({ names }) => names))].map((name) => ({
        name,
        planIds: texts.filter(({ names }) => names.includes(name)).map(({ id }) => id),
      })),
    };
  },
});
