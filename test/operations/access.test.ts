import { expect, it } from "vitest";
import plans from "../../plans.config.ts";
import { definePlans } from "../../src/domain/plan.ts";
import { execute } from "../../src/operations/operation.ts";
import { showAccess } from "../../src/operations/subscriptions/show-access.ts";
import { testLimits } from "../support/guarded-app.ts";
import { createSubscription } from "../support/subscriptions.ts";
import { testDatabase } from "../support/test-database.ts";
import { session } from "./test-context.ts";

const test = testDatabase(2);

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
  const { items } = await execute(
    showAccess,
    { database: test.database, plans: raised, limits: testLimits(), observe: null },
    { caller: session("user_1"), charges: [] },
    () => ({}),
  );
  expect(items.map(({ price }) => price?.amount ?? null).sort()).toEqual([9_900, null]);
  expect(items.map(({ paidIn }) => paidIn)).toEqual(Array(2).fill({ interval: "month", currency: "EUR" }));
});
