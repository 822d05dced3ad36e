import { beforeEach, expect, it } from "vitest";
import plans from "../../plans.config.ts";
import { readConfig } from "../../src/config/config.ts";
import { checkDatabase } from "../../src/doctor/check-database.ts";
import { checkSubscribedPlans } from "../../src/doctor/check-subscribed-plans.ts";
import { createSubscription } from "../support/subscriptions.ts";
import { testDatabase } from "../support/test-database.ts";
import { serverVariables } from "../support/variables.ts";

const test = testDatabase(3);
beforeEach(() => test.rows("delete from subscription"));

const find = () => checkSubscribedPlans(test.database, plans);

it("finds nothing where every plan that somebody has is listed", async () => {
  await createSubscription(test, "user_0", { plan_id: "pro" });
  expect(await find()).toBeNull();
});

it("reports each plan that somebody has and plans.config.ts lacks, with its subscriptions", async () => {
  await createSubscription(test, "user_0", { plan_id: "gold" });
  await createSubscription(test, "user_1", { plan_id: "gold", status: "trialing" });
  await createSubscription(test, "user_2", { plan_id: "former", status: "past_due" });
  await createSubscription(test, "user_2", { plan_id: "resting", status: "paused" });
  expect(await find()).toEqual({
    check: "subscribed plans",
    state: "broken",
    detail:
      "not in plans.config.ts: former (1 subscription), gold (2 subscriptions), resting (1 subscription)",
    remedy: expect.stringContaining("Put them back (without price ids"),
  });
  const { findings } = await checkDatabase(readConfig(serverVariables(test.url)));
  expect(findings).toContainEqual(await find());
});

it("reports none that has ended, or has never started", async () => {
  await createSubscription(test, "user_0", { plan_id: "gold", status: "canceled" });
  await createSubscription(test, "user_1", { plan_id: "gold", status: "incomplete" });
  expect(await find()).toBeNull();
});

it("reports none of a person who has deleted the account: a single purchase never ends", async () => {
  await createSubscription(test, null, { plan_id: "gold" });
  expect(await find()).toBeNull();
});

it("reports none whose payment was refunded", async () => {
  await createSubscription(test, "user_0", { plan_id: "gold", provider_subscription_id: "sub_refunded" });
  await test.rows(
    `insert into payment (provider, provider_payment_id, provider_subscription_id, amount, currency, state, status, occurred_at)
     values ('provider-a', 'in_1', 'sub_refunded', 900, 'EUR', 'paid', 'refunded', now())`,
  );
  expect(await find()).toBeNull();
});
