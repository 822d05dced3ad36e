import { describe, expect, it } from "vitest";
import type { SubscriptionStatus } from "../../src/domain/subscriptions/subscription-status.ts";
import { currentSubscription } from "../../src/operations/subscriptions/current-subscription.ts";
import { completeOnboarding } from "../../src/operations/users/complete-onboarding.ts";
import { setLocale } from "../../src/operations/users/set-locale.ts";
import { createSubscription } from "../support/subscriptions.ts";
import { testDatabase } from "../support/test-database.ts";
import { ANONYMOUS, apiKey, createTestContext, refusalOf, session } from "./test-context.ts";

const test = testDatabase();
const context = createTestContext(test);

describe("setting the language", () => {
  it("changes it only for the caller", async () => {
    const changed = await context.call(setLocale, session("user_1"), { locale: "zh" });
    expect(changed).toMatchObject({ id: "user_1", locale: "zh", name: "User 1" });
    const otherUsers = await test.rows(`select id from "user" where locale <> 'en'`);
    expect(otherUsers).toEqual([{ id: "user_1" }]);
  });

  it.each([{ locale: "fr" }, { locale: "en ", x: 1 }, {}, { locale: null }])("rejects %j", async (input) => {
    expect((await refusalOf(context.call(setLocale, session("user_1"), input))).code).toBe("invalid_input");
  });

  it("returns not_found for a deleted user", async () => {
    const refusal = await refusalOf(context.call(setLocale, session("gone"), { locale: "de" }));
    expect(refusal.code).toBe("not_found");
  });
});

describe("onboarding", () => {
  it("is completed once; completing it again changes nothing", async () => {
    const completed = await context.call(completeOnboarding, session("user_2"));
    expect(completed).toMatchObject({ id: "user_2", onboarded: true });
    expect(await context.call(completeOnboarding, apiKey("user_2"))).toEqual(completed);
    const onboarded = await test.rows(`select id from "user" where onboarded`);
    expect(onboarded).toEqual([{ id: "user_2" }]);
    expect((await refusalOf(context.call(completeOnboarding, ANONYMOUS))).code).toBe("unauthorized");
  });
});

describe("the current subscription", () => {
  const subscribed = (userId: string, status: SubscriptionStatus, createdAt: string) =>
    createSubscription(test, userId, { status, created_at: createdAt });
  const current = (userId: string) => context.call(currentSubscription, session(userId));

  it("is the user's running one of the highest plan, the newest of equals", async () => {
    expect(await current("user_3")).toBeNull();
    await subscribed("user_3", "canceled", "2026-05-01");
    expect(await current("user_3")).toBeNull();
    for (const [index, status] of (
      ["incomplete", "paused", "unpaid", "past_due", "trialing", "active"] as const
    ).entries()) {
      const older = await subscribed("user_3", status, `2026-03-0${9 - index}`);
      expect(await current("user_3"), status).toMatchObject({ id: older, status, userId: "user_3" });
      const newer = await subscribed("user_3", status, `2026-04-0${9 - index}`);
      expect(await current("user_3"), status).toMatchObject({ id: newer, status });
    }
    expect(await current("user_4")).toBeNull();
  });

  it.each([
    ["user_5", "refunded"],
    ["user_6", "disputed"],
  ])("is not one whose payment was taken back while another gives access: %s, %s", async (userId, status) => {
    const name = `taken_back_${status}`;
    const takenBack = await createSubscription(test, userId, {
      provider_subscription_id: name,
      created_at: "2026-05-01",
    });
    await test.rows(
      `insert into payment (provider, provider_payment_id, provider_subscription_id, amount, currency, state, status, occurred_at)
       values ('provider-a', $1, $1, 2000, 'EUR', 'paid', $2, now())`,
      [name, status],
    );
    await subscribed(userId, "paused", "2026-06-01");
    expect(await current(userId)).toMatchObject({ id: takenBack });
    const pastDue = await subscribed(userId, "past_due", "2026-03-01");
    expect(await current(userId)).toMatchObject({ id: pastDue });
  });

  it("is no purchase that was taken back while a subscription is charged again or can be", async () => {
    const purchase = await createSubscription(test, "user_7", {
      provider_subscription_id: null,
      is_one_time: true,
    });
    await test.rows("update subscription set payment_id = 'pi_7' where id = $1", [purchase]);
    await test.rows(
      `insert into payment (provider, provider_payment_id, provider_subscription_id, amount, currency, state, status, occurred_at)
       values ('provider-a', 'pi_7', 'pi_7', 2000, 'EUR', 'paid', 'refunded', now())`,
    );
    expect(await current("user_7")).toMatchObject({ id: purchase });
    const paused = await subscribed("user_7", "paused", "2026-03-01");
    expect(await current("user_7")).toMatchObject({ id: paused });
  });

  it("is looked up by the index on its user", async () => {
    await test.rows(
      `insert into subscription (id, user_id, provider, provider_subscription_id, plan_id, seats, status,
         cancel_at_period_end, out_of_order)
       select gen_random_uuid(), 'user_19', 'provider-b', 'many_' || n, 'pro', 1, 'active', false, false
       from generate_series(1, 20000) n`,
    );
    await test.rows("vacuum analyze subscription");
    const plan = await test.rows<Record<"QUERY PLAN", string>>(
      `explain select id from subscription where user_id = 'user_3' and status = any ('{active}'::text[])
       order by array_position('{active}'::text[], status), created_at desc, id desc limit 1`,
    );
    expect(plan.map((line) => line["QUERY PLAN"]).join("\n")).toContain("subscription_by_user");
  });
});
