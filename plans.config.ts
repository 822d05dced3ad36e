import { definePlans } from "./src/domain/plan.ts";

/**
 * The plans for sale. Amounts are in the currency's smallest unit, per seat and interval; `priceIds` are the ids of the
 * price at the provider of each slot, or names for them that PLANS_PRICE_IDS maps to the ids of an environment.
 */
export default definePlans([
  {
    id: "free",
    name: "Free",
    price: { amount: 0, currency: "EUR", interval: "month" },
    features: ["1 seat", "1,000 events a month", "Community support"],
    seats: { min: 1, max: 1 },
    priceIds: {},
  },
  {
    id: "pro",
    name: "Pro",
    price: { amount: 2000, currency: "EUR", interval: "month" },
    features: ["Up to 5 seats", "100,000 events a month", "E-mail support"],
    seats: { min: 1, max: 5 },
    priceIds: {
      "provider-a": "price_pro_monthly",
      "provider-b": "pri_pro_monthly",
      "provider-c": "prod_pro",
    },
    prices: [
      {
        amount: 20000,
        currency: "EUR",
        interval: "year",
        priceIds: {
          "provider-a": "price_pro_yearly",
          "provider-b": "pri_pro_yearly",
          "provider-c": "prod_pro_yearly",
        },
      },
    ],
    graceDays: 7,
  },
  {
    id: "team",
    name: "Team",
    price: { amount: 1500, currency: "EUR", interval: "month" },
    features: ["5 to 500 seats", "Unlimited events", "Priority support"],
    seats: { min: 5, max: 500 },
    priceIds: {
      "provider-a": "price_team_monthly",
      "provider-b": "pri_team_monthly",
      "provider-c": "prod_team",
    },
    prices: [
      {
        amount: 15000,
        currency: "EUR",
        interval: "year",
        priceIds: {
          "provider-a": "price_team_yearly",
          "provider-b": "pri_team_yearly",
          "provider-c": "prod_team_yearly",
        },
      },
    ],
    graceDays: 14,
  },
]);
