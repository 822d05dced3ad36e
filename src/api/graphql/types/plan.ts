import { FEATURE_ID_DESCRIPTION } from "../../../operations/plans/feature-value-view.ts";
import { listFeatures } from "../../../operations/plans/list-features.ts";
import { listPlans } from "../../../operations/plans/list-plans.ts";
import { PriceView } from "../../../operations/plans/price-view.ts";
import { builder } from "../builder.ts";
import * as enums from "../enums.ts";
import { ID_DEPRECATION_REASON } from "./id-deprecation-reason.ts";
import type { ItemOf, OutputOf } from "./operation-output.ts";

type PlanItem = ItemOf<typeof listPlans>;

const PlanView = listPlans.output.shape.items.element;

const Price = builder.objectRef<PlanItem["price"]>("Price").implement({
  description: "A price of a plan.",
  extensions: { view: PriceView },
  fields: (t) => ({
    amount: t.exposeFloat("amount"),
    currency: t.exposeString("currency"),
    interval: t.expose("interval", { type: enums.IntervalEnum }),
  }),
});

const Seats = builder.objectRef<PlanItem["seats"]>("Seats").implement({
  extensions: { view: PlanView.shape.seats },
  fields: (t) => ({ min: t.exposeInt("min"), max: t.exposeInt("max") }),
});

const FeatureDetails = builder.objectRef<PlanItem["featureDetails"][number]>("FeatureDetails").implement({
  extensions: { view: PlanView.shape.featureDetails.element },
  fields: (t) => ({
    featureId: t.exposeID("id", { description: FEATURE_ID_DESCRIPTION }),
    id: t.exposeID("id", { description: FEATURE_ID_DESCRIPTION, deprecationReason: ID_DEPRECATION_REASON }),
    kind: t.expose("kind", { type: enums.FeatureKindEnum }),
    value: t.expose("value", { type: "JSON" }),
    text: t.exposeString("text"),
  }),
});

export const Plan = builder.objectRef<PlanItem>("Plan").implement({
  extensions: { view: PlanView },
  fields: (t) => ({
    id: t.exposeID("id"),
    name: t.exposeString("name"),
    price: t.expose("price", { type: Price }),
    prices: t.expose("prices", { type: [Price] }),
    trialDays: t.exposeInt("trialDays"),
    features: t.exposeStringList("features"),
    featureDetails: t.expose("featureDetails", { type: [FeatureDetails], extensions: { size: 20 } }),
    seats: t.expose("seats", { type: Seats }),
    isForSale: t.exposeBoolean("isForSale"),
  }),
});

export const Feature = builder
  .objectRef<OutputOf<typeof listFeatures>["features"][number]>("Feature")
  .implement({
    extensions: { view: listFeatures.output.shape.features.element },
    fields: (t) => ({
      name: t.exposeString("name"),
      planIds: t.exposeIDList("planIds"),
    }),
  });
