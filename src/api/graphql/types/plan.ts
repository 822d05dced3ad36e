import type { listFeatures } from "../../../operations/plans/list-features.ts";
import type { listPlans } from "../../../operations/plans/list-plans.ts";
import { builder } from "../builder.ts";
import * as enums from "../enums.ts";
import { FEATURE_KIND, FEATURE_VALUE } from "./feature-value.ts";
import type { ItemOf, OutputOf } from "./operation-output.ts";

const Price = builder.objectRef<ItemOf<typeof listPlans>["price"]>("Price").implement({
  fields: (t) => ({
    amount: t.exposeInt("amount", { description: "In the currency's smallest unit, per seat and interval." }),
    currency: t.exposeString("currency", { description: "ISO 4217." }),
    interval: t.expose("interval", { type: enums.IntervalEnum }),
  }),
});

const Seats = builder.objectRef<ItemOf<typeof listPlans>["seats"]>("Seats").implement({
  fields: (t) => ({ min: t.exposeInt("min"), max: t.exposeInt("max") }),
});

const FeatureDetails = builder
  .objectRef<ItemOf<typeof listPlans>["featureDetails"][number]>("FeatureDetails")
  .implement({
    description: "A feature of a plan, for programs.",
    fields: (t) => ({
      id: t.exposeID("id"),
      kind: t.expose("kind", FEATURE_KIND),
      value: t.expose("value", FEATURE_VALUE),
      text: t.exposeString("text", { description: "In the caller's language." }),
    }),
  });

export const Plan = builder.objectRef<ItemOf<typeof listPlans>>("Plan").implement({
  fields: (t) => ({
    id: t.exposeID("id"),
    name: t.exposeString("name"),
    price: t.expose("price", {
      type: Price,
      description: "The default price.",
    }),
    prices: t.expose("prices", { type: [Price], description: "All prices, the default one first." }),
    trialDays: t.exposeInt("trialDays", { description: "Days of a free trial; 0: none." }),
    features: t.exposeStringList("features", { description: "What it includes, in the caller's language." }),
    featureDetails: t.expose("featureDetails", {
      type: [FeatureDetails],
      description: "The same in machine-readable form.",
      extensions: { size: 20 },
    }),
    seats: t.expose("seats", { type: Seats }),
  }),
});

export const Feature = builder
  .objectRef<OutputOf<typeof listFeatures>["features"][number]>("Feature")
  .implement({
    fields: (t) => ({
      name: t.exposeString("name"),
      planIds: t.exposeIDList("planIds", {
        description: "The plans that include it, in the order in which plans are listed.",
      }),
    }),
  });
