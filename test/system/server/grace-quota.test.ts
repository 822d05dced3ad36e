import { expect, it } from "vitest";
import { INTERVALS } from "../../../src/domain/plans/plan.ts";
import { intervalsAfter } from "../../../src/simulator/lifecycle/calendar.ts";
import { fixtureDelivery } from "../../fixtures/fixture.ts";
import { freshServer } from "../../support/fresh-server.ts";
import { deliverWebhook, sendRequest } from "../../support/http.ts";
import { createServiceKey } from "../../support/service-keys.ts";
import { SECRETS } from "../../support/variables.ts";

const { test, server } = freshServer({ users: 3, variables: { PROVIDER_A_ADAPTER: "lemon-squeezy" } });

const PRICES = { month: "price_pro_monthly", year: "price_pro_yearly" };

it.each(INTERVALS)(
  "counts what is used while the renewal of a %s fails at Lemon Squeezy in one period, once it is paid too",
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
