import { afterEach, expect, it } from "vitest";
import { INTERVALS } from "../../../src/domain/plans/plan.ts";
import { intervalsAfter } from "../../../src/simulator/lifecycle/calendar.ts";
import { fixtureDelivery } from "../../fixtures/fixture.ts";
import { cleanUp } from "../../support/cleanup.ts";
import { freshServer } from "../../support/fresh-server.ts";
import { deliverWebhook, sendRequest } from "../../support/http.ts";
import { createUser } from "../../support/people.ts";
import { createServiceKey } from "../../support/service-keys.ts";
import { SECRETS } from "../../support/variables.ts";
import { startProviderContext } from "./provider-context.ts";

afterEach(cleanUp);

const { test, server } = freshServer({ users: 3, variables: { PROVIDER_A_ADAPTER: "lemon-squeezy" } });

const PRICES = { month: "price_pro_monthly", year: "price_pro_yearly" };

it.each(INTERVALS)(
  "counts what is used while the renewal of a %s fails at Lemon Squeezy in one period, also once it is paid",
  async (interval) => {
    const userId = interval === "month" ? "user_1" : "user_2";
    const { key } = await createServiceKey(test);
    // The attempt to charge comes some seconds after the period's end, and moves that to the next attempt.
    const endedAt = Math.floor(Date.now() / 1000) - 60;
    const time = (seconds: number) => new Date(seconds * 1000);
    const report = async (status: "active" | "past_due", occurredAt: number, currentPeriodEnd: number) => {
      const delivery = fixtureDelivery("lemon-squeezy", "customer.subscription.updated", {
        secret: SECRETS["provider-a"],
        nowSeconds: endedAt,
        eventId: `hook_${userId}_${occurredAt}`,
        userId,
        subscriptionId: interval === "month" ? "501" : "502",
        customerId: interval === "month" ? "601" : "602",
        priceId: PRICES[interval],
        seats: 1,
        status,
        occurredAt: time(occurredAt),
        currentPeriodEnd: time(currentPeriodEnd),
      });
      expect((await deliverWebhook(server.url, "provider-a", delivery)).status).toBe(200);
    };
    const use = async (idempotencyKey: string) => {
      const body = { user: userId, feature: "events", amount: 40_000, idempotencyKey };
      return (await sendRequest(server.url, "POST", "/api/usage", { key, body })).body.used;
    };

    await report("active", endedAt - 86_400, endedAt);
    const used = [await use(`${userId} before the attempt`)];
    await report("past_due", endedAt + 20, endedAt + 3 * 86_400);
    used.push(await use(`${userId} in the grace period`));
    await report("active", endedAt + 40, intervalsAfter(endedAt, 1, interval));
    const { body } = await sendRequest(server.url, "GET", `/api/entitlements?user=${userId}`, { key });
    expect([...used, body.features.events.used]).toEqual([40_000, 80_000, 80_000]);
  },
);

it("refuses a smaller plan while a renewal fails, too, once more was used than it includes", async () => {
  const context = await startProviderContext("lemon-squeezy");
  const person = await createUser(context.test);
  await context.buy(person, { planId: "team", seats: 5 });
  await context.waitUntilEqual(person);
  const { key } = await createServiceKey(context.test);
  const body = { user: person.id, feature: "events", amount: 100_001, idempotencyKey: "all of pro" };
  expect((await sendRequest(context.server.url, "POST", "/api/usage", { key, body })).status).toBe(200);
  await context.press(person, "fail_renewal");
  await context.forward("month");
  await context.waitUntilEqual(person);
  const [subscription] = await context.test.rows<{ id: string; status: string }>(
    "select id, status from subscription",
  );
  expect(subscription?.status).toBe("past_due");
  const change = { planId: "pro", seats: 5, when: "now" };
  const refused = await context.post(`/api/v2/subscriptions/${subscription?.id}/change`, person, change);
  expect([refused.status, refused.body.reason], refused.text).toEqual([409, "plan_includes_less"]);
});
