import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import plans from "../../plans.config.ts";
import { definePlans, type PlanCatalog } from "../../src/domain/plans/plan.ts";
import { execute } from "../../src/operations/operation.ts";
import { showAccess } from "../../src/operations/subscriptions/show-access.ts";
import { testLimits } from "../support/guarded-app.ts";
import { createSubscription } from "../support/subscriptions.ts";
import { testDatabase } from "../support/test-database.ts";
import { session } from "./test-context.ts";

const test = testDatabase(3);

function accessOf(catalog: PlanCatalog, userId = "user_1") {
  return execute(
    showAccess,
    { database: test.database, plans: catalog, limits: testLimits(), observe: null },
    { caller: session(userId), charges: [] },
    () => ({}),
  );
}

it("shows the price of a subscription, but none for a price that has been replaced", async () => {
  const raised = definePlans(
    plans.plans.map((plan) =>
      plan.id === "pro"
        ? {
            ...plan,
            price: { ...plan.price, amount: 9_900 },
            priceIds: { "provider-a": ["price_new", "price_old"] },
          }
        : plan,
    ),
  );
  for (const price_id of ["price_new", "price_old"]) await createSubscription(test, "user_1", { price_id });
  const { items } = await accessOf(raised);
  expect(items.map(({ price }) => price?.amount ?? null).sort()).toEqual([9_900, null]);
  expect(items.map(({ paidIn }) => paidIn)).toEqual(Array(2).fill({ interval: "month", currency: "EUR" }));
});

it.each([
  ["USD", "EUR"],
  ["EUR", "JPY"],
])("shows no price if the latest payment was in another currency: %s, then %s", async (first, latest) => {
  const paid = (currency: string, at: string, subscription = `sub_${latest}`, slot = "provider-a") =>
    test.rows(
      `insert into payment (provider, provider_payment_id, provider_subscription_id, amount, currency, state, status, occurred_at)
       values ($1, $2, $3, 2000, $4, 'paid', 'paid', $5)`,
      [slot, randomUUID(), subscription, currency, at],
    );
  // Somebody else's, and that of a subscription with the same id at another provider.
  await paid("GBP", "2026-03-01T00:00:00Z", "sub_of_another");
  await paid("GBP", "2026-03-01T00:00:00Z", `sub_${latest}`, "provider-b");
  const id = await createSubscription(test, "user_0", {
    price_id: "price_pro_monthly",
    provider_subscription_id: `sub_${latest}`,
  });
  await paid(first, "2026-01-01T00:00:00Z");
  const [before] = (await accessOf(plans, "user_0")).items;
  await paid(latest, "2026-02-01T00:00:00Z");
  const [after] = (await accessOf(plans, "user_0")).items;
  const list = { amount: 2_000, currency: "EUR", interval: "month" };
  const of = (currency: string) => ({ chargedCurrency: currency, price: currency === "EUR" ? list : null });
  expect([before, after]).toMatchObject([of(first), of(latest)]);
  await test.rows("delete from subscription where id = $1", [id]);
});

it("shows what its provider sells, and the interval that a scheduled change brings", async () => {
  const id = await createSubscription(test, "user_2", { price_id: "price_pro_monthly" });
  await test.rows(
    `insert into scheduled_change (subscription_id, plan_id, price_id, seats, takes_effect_at)
     values ($1, 'pro', 'price_pro_yearly', 1, now() + interval '1 day')`,
    [id],
  );
  const [item] = (await accessOf(plans, "user_2")).items;
  const of = (planId: string, interval: string) => ({ planId, interval, currency: "EUR" });
  const monthly = [of("pro", "month"), of("team", "month")];
  expect(item).toMatchObject({
    sold: [of("pro", "month"), of("pro", "year"), of("team", "month"), of("team", "year")],
    scheduled: { planId: "pro", interval: "year" },
  });

  // Another provider sells by the year too.
  const monthlyHere = definePlans(
    plans.plans.map((plan) => ({
      ...plan,
      prices: plan.prices.map((price) => ({ ...price, priceIds: { "provider-b": `pri_${plan.id}` } })),
    })),
  );
  expect((await accessOf(monthlyHere, "user_2")).items).toMatchObject([{ sold: monthly }]);

  // Its own plan is not configured any more.
  const others = definePlans(plans.plans.filter((plan) => plan.id !== "pro"));
  expect((await accessOf(others, "user_2")).items).toMatchObject([
    { sold: [of("team", "month"), of("team", "year")] },
  ]);
  // As a server of an earlier commit stores it.
  await test.rows(
    "update scheduled_change set plan_id = 'team', price_id = null where subscription_id = $1",
    [id],
  );
  expect((await accessOf(plans, "user_2")).items).toMatchObject([
    { scheduled: { planId: "team", interval: null } },
  ]);
  // It has been made.
  await test.rows(
    "update scheduled_change set plan_id = 'pro', price_id = 'price_pro_monthly' where subscription_id = $1",
    [id],
  );
  expect((await accessOf(plans, "user_2")).items).toMatchObject([{ scheduled: null }]);
});

it.each([
  ["whose time has passed", "update scheduled_change set takes_effect_at = now() - interval '1 second'"],
  ["of a subscription that will end", "update subscription set cancel_at_period_end = true"],
  ["of a subscription that is paused", "update subscription set status = 'paused'"],
])("shows no scheduled change %s", async (_name, happens) => {
  const id = await createSubscription(test, "user_0", { price_id: "price_pro_monthly" });
  await test.rows(
    `insert into scheduled_change (subscription_id, plan_id, price_id, seats, takes_effect_at)
     values ($1, 'team', 'price_team_monthly', 5, now() + interval '1 day')`,
    [id],
  );
  const scheduled = async () => (await accessOf(plans, "user_0")).items.map((item) => item.scheduled?.planId);
  expect(await scheduled()).toEqual(["team"]);
  await test.rows(happens);
  expect(await scheduled()).toEqual([undefined]);
  await test.rows("delete from subscription where id = $1", [id]);
});

it("shows the subscriptions that have not ended, the newest first", async () => {
  const monthAgo = (months: number) => new Date(Date.now() - months * 30 * 86_400_000).toISOString();
  const older = await createSubscription(test, "user_0", { status: "past_due", created_at: monthAgo(2) });
  await createSubscription(test, "user_0", { status: "canceled", created_at: monthAgo(3) });
  const newer = await createSubscription(test, "user_0", { created_at: monthAgo(1) });
  const { items } = await accessOf(plans, "user_0");
  expect(items.map(({ subscriptionId }) => subscriptionId)).toEqual([newer, older]);
});
