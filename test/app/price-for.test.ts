import { expect, it } from "vitest";
import { priceFor } from "../../src/app/(account)/billing/price-for.ts";

const price = { amount: 2000, currency: "EUR", interval: "month" } as const;
const yearly = { amount: 20_000, currency: "EUR", interval: "year" } as const;
const inDollars = { amount: 2200, currency: "USD", interval: "month" } as const;
const plan = { price, prices: [price, yearly, inDollars] };

it.each([
  [{ interval: "year", currency: "EUR" }, yearly],
  [{ interval: "month", currency: "USD" }, inDollars],
  // A change keeps the currency, if not the interval.
  [{ interval: "year", currency: "USD" }, inDollars],
  [{ interval: "year", currency: "GBP" }, price],
  [undefined, price],
] as const)(
  "is for %j the one of that interval and currency, else one in that currency, else the first",
  (wanted, shown) => {
    expect(priceFor(plan, wanted)).toEqual(shown);
  },
);
