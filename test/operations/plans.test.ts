import { describe, expect, it } from "vitest";
import plans from "../../plans.config.ts";
import { LOCALES } from "../../src/domain/locale.ts";
import { definePlans } from "../../src/domain/plans/plan.ts";
import { execute } from "../../src/operations/operation.ts";
import { listFeatures } from "../../src/operations/plans/list-features.ts";
import { listPlans } from "../../src/operations/plans/list-plans.ts";
import { testLimits } from "../support/guarded-app.ts";
import { ANONYMOUS } from "./test-context.ts";

const deps = () => ({ plans, limits: testLimits(), observe: null });

describe("the list of plans", () => {
  it("shows features as texts, and beside them for programs", async () => {
    const { items } = await execute(listPlans, deps(), { caller: ANONYMOUS, charges: [] }, () => ({}));
    expect(items[0]).toMatchObject({
      id: "free",
      features: ["1 project", "1,000 events a month", "Community support"],
      featureDetails: [
        { id: "projects", kind: "limit", value: 1, text: "1 project" },
        { id: "events", kind: "quota", value: 1_000, text: "1,000 events a month" },
        { id: "community-support", kind: "flag", value: true, text: "Community support" },
      ],
    });
    expect(items.every((plan) => !("priceIds" in plan))).toBe(true);
  });

  it.each<[string, string | undefined, object, string]>([
    ["Accept-Language", "de-CH, en;q=0.5", {}, "1 Projekt"],
    ["English without a supported language", "fr, *", {}, "1 project"],
    ["the language asked for before Accept-Language", "zh", { locale: "es" }, "1 proyecto"],
  ])("is in the reader's language: %s", async (_name, acceptLanguage, input, text) => {
    const call = () => ({ caller: ANONYMOUS, charges: [], acceptLanguage });
    const { items } = await execute(listPlans, deps(), call(), () => input);
    expect(items[0]?.features[0]).toBe(text);
    const { features } = await execute(listFeatures, deps(), call(), () => input);
    expect(features[0]).toEqual({ name: text, planIds: ["free"] });
  });
});

it("does not list a feature that is off in the plan", async () => {
  const text = { en: "Exports", de: "Exporte", es: "Exportaciones", zh: "导出" };
  const off = definePlans(
    plans.plans.map((plan) => ({
      ...plan,
      features: [{ id: "exports", kind: "flag" as const, value: plan.id === "pro", text }],
    })),
  );
  const call = { caller: ANONYMOUS, charges: [] };
  const { items } = await execute(listPlans, { ...deps(), plans: off }, call, () => ({}));
  expect(items.filter(({ features }) => features.length > 0).map(({ id }) => id)).toEqual(["pro"]);
  expect(items[0]?.featureDetails).toMatchObject([{ id: "exports", value: false }]);
  expect((await execute(listFeatures, { ...deps(), plans: off }, call, () => ({}))).features).toEqual([
    { name: "Exports", planIds: ["pro"] },
  ]);
});

it("lists only the prices that have an id", async () => {
  const monthly = definePlans(
    plans.plans.map((plan) => ({
      ...plan,
      prices: plan.prices.map((price) => ({ ...price, priceIds: {} })),
    })),
  );
  const intervals = async (catalog: typeof plans) => {
    const call = { caller: ANONYMOUS, charges: [] };
    const { items } = await execute(listPlans, { ...deps(), plans: catalog }, call, () => ({}));
    return items.find(({ id }) => id === "pro")?.prices.map(({ interval }) => interval);
  };
  expect(await intervals(plans)).toEqual(["month", "year"]);
  expect(await intervals(monthly)).toEqual(["month"]);
});

it("lists a plan without price ids as one that is not for sale, but a free one as for sale", async () => {
  const withoutIds = definePlans(
    plans.plans.slice(0, 3).map((plan) => ({
      ...plan,
      ...(plan.id === "team" ? {} : { priceIds: {}, prices: [] }),
    })),
  );
  const { items } = await execute(
    listPlans,
    { ...deps(), plans: withoutIds },
    { caller: ANONYMOUS, charges: [] },
    () => ({}),
  );
  expect(items.map(({ id, isForSale }) => [id, isForSale])).toEqual([
    ["free", true],
    ["pro", false],
    ["team", true],
  ]);
});

describe("features", () => {
  it.each(LOCALES)("are listed once each, with the plans that have them: %s", async (locale) => {
    const { features } = await execute(listFeatures, deps(), { caller: ANONYMOUS, charges: [] }, () => ({
      locale,
    }));
    const names = features.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const plan of plans.plans) {
      const had = features.filter(({ planIds }) => planIds.includes(plan.id)).map(({ name }) => name);
      expect(had.sort()).toEqual(plan.features.map(({ text }) => text[locale]).sort());
    }
  });
});
