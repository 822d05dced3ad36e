import { describe, expect, it } from "vitest";
import plans from "../../../plans.config.ts";
import { LOCALES } from "../../../src/domain/locale.ts";
import { FEATURE_KINDS, type Feature } from "../../../src/domain/plans/feature.ts";
import { definePlans, priceIdsIn, pricesOf } from "../../../src/domain/plans/plan.ts";

type Plans = Parameters<typeof definePlans>[0];

const PRO: Plans[number] = {
  id: "pro",
  name: "Pro",
  price: { amount: 2000, currency: "EUR", interval: "month" },
  features: [],
  seats: { min: 1, max: 5 },
  priceIds: { "provider-a": ["pro_monthly", "pro_monthly_2024"], "provider-b": "pri_pro" },
  prices: [
    { amount: 20000, currency: "EUR", interval: "year", priceIds: { "provider-a": "pro_yearly" } },
    { amount: 2200, currency: "USD", interval: "month", priceIds: { "provider-a": "pro_usd" } },
  ],
};

const sold = (plans: ReturnType<typeof definePlans>, priceId: string) =>
  plans.sold("provider-a", [{ priceIds: [priceId], seats: 1 }])?.planId ?? null;

describe("prices of a plan", () => {
  it("recognises every price in events, former ones too", () => {
    const plans = definePlans([PRO]);
    for (const id of ["pro_monthly", "pro_monthly_2024", "pro_yearly", "pro_usd"]) {
      expect(sold(plans, id)).toBe("pro");
    }
    expect(sold(plans, "pri_pro")).toBeNull();
  });

  it("lists the first price in front", () => {
    const [plan] = definePlans([PRO]).plans;
    expect(pricesOf(plan as never).map(({ interval, currency }) => `${interval} ${currency}`)).toEqual([
      "month EUR",
      "year EUR",
      "month USD",
    ]);
  });

  it("refuses two prices of the same interval and currency, and a price id that is used twice", () => {
    const twice = { ...PRO, prices: [{ ...PRO.price, amount: 1, priceIds: {} }] };
    expect(() => definePlans([twice])).toThrow('plans.config.ts: "pro" has two prices in EUR per month');
    const same = { ...PRO.price, currency: "GBP", priceIds: { "provider-a": "pro_monthly" } };
    expect(() => definePlans([{ ...PRO, prices: [same] }])).toThrow("used twice");
  });
});

it("names the statuses that give access, active among them", () => {
  expect(definePlans([PRO]).plans[0]?.accessStatuses).toEqual(["trialing", "active"]);
  const statuses = (accessStatuses: unknown[]) => definePlans([{ ...PRO, accessStatuses } as Plans[number]]);
  expect(statuses(["active", "paused"]).plans[0]?.accessStatuses).toEqual(["active", "paused"]);
  expect(() => statuses(["trialing"])).toThrow("active is missing");
  expect(() => statuses(["active", "active"])).toThrow("a status is listed twice");
  for (const status of ["canceled", "past_due", "open"]) expect(() => statuses(["active", status])).toThrow();
});

describe("price ids of an environment", () => {
  it("replace those of the file, slot by slot", () => {
    const plans = definePlans([PRO]).withPriceIds({
      "provider-a": { pro_monthly: "price_live_1", pro_usd: "price_live_2" },
    });
    const ids = pricesOf(plans.plans[0] as never).map((price) => priceIdsIn("provider-a", price));
    expect(ids).toEqual([["price_live_1", "pro_monthly_2024"], ["pro_yearly"], ["price_live_2"]]);
    expect(sold(plans, "price_live_2")).toBe("pro");
    expect(sold(plans, "pro_usd")).toBeNull();
    expect(plans.sold("provider-b", [{ priceIds: ["pri_pro"], seats: 1 }])?.planId).toBe("pro");
  });

  it("must name ids that the file has, and give no id twice", () => {
    const plans = definePlans([PRO]);
    expect(() => plans.withPriceIds({ "provider-a": { pro_montly: "price_1" } })).toThrow(
      '"provider-a pro_montly"',
    );
    expect(() => plans.withPriceIds({ "provider-a": { pro_monthly: "pro_usd" } })).toThrow("used twice");
  });
});

const text = { en: "Exports", de: "Exporte", es: "Exportaciones", zh: "导出" };

function planWith(features: Feature[], id = "pro") {
  const price = { amount: 100, currency: "EUR", interval: "month" as const };
  return { id, name: "Pro", price, features, seats: { min: 1, max: 1 }, priceIds: {} };
}

describe("the shipped plans", () => {
  it("have a feature of every kind each", () => {
    for (const { features } of plans.plans)
      expect(new Set(features.map(({ kind }) => kind))).toEqual(new Set(FEATURE_KINDS));
  });

  it("write numbers as the pages do in each language", () => {
    const numbers = plans.plans.flatMap(({ features }) =>
      features.flatMap(({ value, text }) =>
        typeof value === "number" ? LOCALES.map((locale) => ({ locale, value, text: text[locale] })) : [],
      ),
    );
    for (const { locale, value, text } of numbers)
      expect(text).toContain(new Intl.NumberFormat(locale).format(value));
  });

  it("give 100 or more of a quota for free", () => {
    const free = plans.plans.find(({ id }) => id === "free");
    expect(free?.features.find(({ kind }) => kind === "quota")?.value).toBeGreaterThanOrEqual(100);
  });
});

describe("a plan is refused", () => {
  it.each<[string, unknown[], string]>([
    [
      "with a text missing in one language",
      [planWith([{ id: "a", kind: "flag", value: true, text: { en: "A" } } as never])],
      "text",
    ],
    [
      "with a quota that is no number",
      [planWith([{ id: "a", kind: "quota", value: true, text } as never])],
      "value",
    ],
    [
      "with an unknown kind of feature",
      [planWith([{ id: "a", kind: "gauge", value: 1, text } as never])],
      "kind",
    ],
    [
      "with a feature listed twice",
      [
        planWith([
          { id: "a", kind: "flag", value: true, text },
          { id: "a", kind: "flag", value: false, text },
        ]),
      ],
      "a feature is listed twice",
    ],
    [
      "whose feature is of another kind in another plan",
      [
        planWith([{ id: "a", kind: "flag", value: true, text }]),
        planWith([{ id: "a", kind: "limit", value: 1, text }], "team"),
      ],
      '"a" is a flag and a limit',
    ],
  ])("%s", (_name, definitions, problem) => {
    expect(() => definePlans(definitions as never)).toThrow(problem);
  });

  it("once each, and in words that say what to write instead", () => {
    const linesOf = (definitions: unknown) => {
      try {
        definePlans(definitions as Plans);
        return [];
      } catch (error) {
        return (error as Error).message.split("\n");
      }
    };
    const decimal = { ...PRO, price: { ...PRO.price, amount: 20.5 }, priceIds: { stripe: "price_pro" } };
    expect(linesOf([decimal])).toEqual([
      "plans.config.ts: pro.price.amount: use a whole number of the currency's smallest unit, such as 2050 for 20.50",
      "plans.config.ts: pro.priceIds: stripe: not a slot, use one of provider-a, provider-b, provider-c",
    ]);
    const flag = (id: string) => planWith([{ id: "a", kind: "flag", value: true, text }], id);
    const limit = (id: string) => planWith([{ id: "a", kind: "limit", value: 1, text }], id);
    expect(linesOf([flag("one"), limit("two"), limit("three")])).toEqual([
      'plans.config.ts: "a" is a flag and a limit',
    ]);
    expect(linesOf([flag("one"), flag("one")])).toEqual(['plans.config.ts: "one" is used twice']);
  });

  it("in a line for each mistake, which names the file and the place by its ids, without a stack", () => {
    const feature = { id: "exports", kind: "quota" as const, value: -1, text };
    const wrong = [PRO, { ...planWith([feature], "team"), price: { ...PRO.price, currency: "euro" } }];
    const lines = [
      "plans.config.ts: team.price.currency: use an ISO 4217 code such as EUR",
      "plans.config.ts: team.features.exports.value: Too small: expected number to be >=0",
    ];
    expect(() => definePlans(wrong)).toThrow(
      expect.objectContaining({ message: lines.join("\n"), stack: lines.join("\n") }),
    );
  });
});
