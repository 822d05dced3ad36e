import { describe, expect, it } from "vitest";
import plans from "../../../plans.config.ts";
import { trialDaysOf } from "../../../src/billing/trial-days.ts";
import { definePlans } from "../../../src/domain/plans/plan.ts";
import { customersOfUser } from "../../../src/store/subscriptions/customers.ts";
import { createSubscription } from "../../support/subscriptions.ts";
import { testDatabase } from "../../support/test-database.ts";

const TRIAL_DAYS = 9;
const catalog = definePlans(
  plans.plans.map((plan) => (plan.id === "pro" ? { ...plan, trialDays: TRIAL_DAYS } : plan)),
);

const test = testDatabase(4);

describe("the trial of a person", () => {
  const trialDays = (userId: string) =>
    trialDaysOf({ database: test.database, plans: catalog }, { userId, planId: "pro" });

  it("is kept after an unfinished first payment, and when only others have subscribed", async () => {
    await createSubscription(test, "user_0", { status: "incomplete" });
    await createSubscription(test, "user_1", { status: "canceled" });
    expect(await trialDays("user_0")).toBe(TRIAL_DAYS);
    expect(await trialDays("user_1")).toBe(0);
    expect(await trialDays("user_2")).toBe(TRIAL_DAYS);
  });

  it("is kept after a purchase with a single payment, which is no subscription", async () => {
    const single = { is_one_time: true, provider_subscription_id: null };
    await createSubscription(test, "user_2", single);
    expect(await trialDays("user_2")).toBe(TRIAL_DAYS);
    await createSubscription(test, "user_2", { status: "canceled" });
    expect(await trialDays("user_2")).toBe(0);
  });
});

it("lists whom a person is at the providers: what is paid for first, and of those the latest", async () => {
  const customer = (customer_id: string, status: string, day: number) =>
    createSubscription(test, "user_3", { customer_id, status, created_at: `2026-01-0${day}` });
  await customer("ended", "canceled", 5);
  await customer("older", "active", 1);
  await customer("unpaid", "incomplete", 4);
  await customer("later", "active", 2);
  await customer("in trial", "trialing", 3);
  const customers = await customersOfUser(test.database, "user_3");
  expect(customers.map(({ customerId }) => customerId)).toEqual([
    "later",
    "older",
    "in trial",
    "unpaid",
    "ended",
  ]);
});
