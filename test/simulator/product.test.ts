import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import type { WireFormat } from "../../src/providers/adapter.ts";
import { createPaymentApi } from "../../src/providers/create-payment-api.ts";
import { traitsOf, wireFormats } from "../../src/providers/registry.ts";
import { cleanedUp } from "../support/cleanup.ts";
import { eventually } from "../support/eventually.ts";
import { sendRequest, startHttpServer } from "../support/http.ts";
import { startTestServer } from "../support/server.ts";
import { testDatabase } from "../support/test-database.ts";
import { API_KEY, control, press, simulator } from "./test-context.ts";
import "../fixtures/fifth-provider.ts";

const test = testDatabase(80);

const CARD = { email: "user@example.com", card: "4242 4242 4242 4242" };
const SUCCESS_URL = "http://localhost:3000/billing?checkout=completed";
const CANCEL_URL = "http://localhost:3000/billing?checkout=cancelled";
let people = 0;

/**
 * A server of the product, the simulated provider it takes payments by, and a person who is about to buy.
 * Events that a busy server refuses at first arrive out of order: it compares such a subscription itself.
 */
async function shopWith(format: WireFormat) {
  let deliverTo = "";
  const sim = await simulator({
    formats: { "provider-a": format },
    deliverTo: (slot) => `${deliverTo}/api/webhooks/${slot}`,
    timeScale: 100,
  });
  const apiUrl = `${sim.url}/provider-a`;
  const server = await startTestServer(test.url, {
    PROVIDER_A_ADAPTER: format,
    PROVIDER_A_API_KEY: API_KEY,
    PROVIDER_A_API_URL: apiUrl,
    SELF_HEAL: "on",
  });
  deliverTo = server.url;
  const refuseNext = async () => {
    deliverTo = await overloadedOnce(server.url);
  };
  const api = createPaymentApi({ slot: "provider-a", format, apiKey: API_KEY, apiUrl });
  const userId = `user_${people++}`;
  const order = {
    idempotencyKey: `order of ${userId}`,
    priceId: "price_pro_monthly",
    planId: "pro",
    seats: 2,
    userId,
    email: `${userId}@example.com`,
    isEmailConfirmed: false,
    customerId: null,
    successUrl: SUCCESS_URL,
    cancelUrl: CANCEL_URL,
    trialDays: null,
  };
  /** The person's subscription as the product shows it. */
  const storedSubscriptions = async () => {
    const rows = await test.rows(
      `select plan_id as "planId", seats, status, cancel_at_period_end as "cancelAtPeriodEnd",
              provider_subscription_id as "providerSubscriptionId", user_id as "userId"
         from subscription where user_id = $1`,
      [userId],
    );
    return rows;
  };
  /** The changes that wait for the period's end, as the product shows them. */
  const scheduledChanges = () =>
    test.rows(
      `select c.plan_id as "planId", c.seats from scheduled_change c
         join subscription s on s.id = c.subscription_id where s.user_id = $1`,
      [userId],
    );
  /** Waits until the product shows what the provider has, and nothing is on its way that could change it. */
  const agree = async () => {
    await sim.settle();
    await eventually(storedSubscriptions, sim.subscriptions("provider-a") as never);
  };
  const close = async () => {
    await sim.close();
    await server.close();
  };
  const buy = async (fields: Record<string, string> = {}) => {
    const checkout = await api.createCheckout(order);
    const paid = await press(checkout.url, { ...CARD, action: "pay", ...fields });
    expect(paid.status).toBeLessThan(400);
    await agree();
    const [truth] = sim.subscriptions("provider-a");
    if (!truth) throw new Error("nothing was bought");
    const customerId = (await control(sim.url, "/state")).slots["provider-a"].subscriptions[0].customerId;
    const id = truth.providerSubscriptionId;
    const portal = async () =>
      (
        await api.openPortal({
          userId,
          email: CARD.email,
          isEmailConfirmed: false,
          customerId,
          providerSubscriptionId: id,
          ownSubscriptionIds: [id],
          returnUrl: CANCEL_URL,
        })
      ).url;
    /** Presses a button of the portal, and waits until the product shows the result. */
    const act = async (action: string, more: Record<string, string> = {}) => {
      const answer = await press(await portal(), { subscription: id, action, ...more });
      expect(answer.status, answer.text).toBe(303);
      await agree();
    };
    const forward = async (by: string | number) => {
      await sim.passTime(by);
      await agree();
    };
    return { id, customerId, portal, act, forward };
  };
  return { sim, api, order, userId, refuseNext, agree, storedSubscriptions, scheduledChanges, buy, close };
}

/**
 * An endpoint that refuses the first delivery, as an overloaded server does, and passes all others on.
 * @returns its URL, with the paths of the server
 */
async function overloadedOnce(serverUrl: string): Promise<string> {
  let isOverloaded = true;
  const { url, close } = await startHttpServer(async (incoming, response) => {
    const body = await buffer(incoming);
    if (isOverloaded) {
      isOverloaded = false;
      response.writeHead(503).end();
      return;
    }
    const { host: _, connection: __, "content-length": ___, ...headers } = incoming.headers;
    const { status, text } = await sendRequest(serverUrl, "POST", incoming.url as string, { headers, body });
    response.writeHead(status).end(text);
  });
  cleanedUp(close);
  return url;
}

const unchanged = { priceId: null, seats: null, currentPriceId: "price_pro_monthly" };

describe.each(wireFormats())("changes of a subscription in the format %s", (format) => {
  it("reach the provider, and its events the product", async () => {
    const { api, agree, buy, storedSubscriptions, close } = await shopWith(format);
    const { id } = await buy();
    const seats = {
      ...unchanged,
      ...({ when: "now", seats: 4, resultingSeats: 4, resultingPriceId: "price_pro_monthly" } as const),
    };
    const preview = await api.previewChange(id, seats);
    if (format === "stripe" || format === "paddle") expect(preview).toMatchObject({ currency: "EUR" });
    else expect(preview).toBeNull();
    expect(await storedSubscriptions()).toMatchObject([{ seats: 2 }]);
    await api.changeSubscription(id, seats);
    await agree();
    expect(await storedSubscriptions()).toMatchObject([{ planId: "pro", seats: 4 }]);

    const team = { priceId: "price_team_monthly", resultingPriceId: "price_team_monthly" };
    await api.changeSubscription(id, { ...seats, ...team, seats: 6, resultingSeats: 6 });
    await agree();
    expect(await storedSubscriptions()).toMatchObject([{ planId: "team", seats: 6 }]);
    await close();
  });
});

const waiting = wireFormats().filter((format) => traitsOf(format).changesAtPeriodEnd);

describe.each(waiting)("changes at the end of the period in the format %s", (format) => {
  it("wait for it, and replace each other", async () => {
    const { sim, api, buy, storedSubscriptions, close } = await shopWith(format);
    const { id, forward } = await buy();
    const atPeriodEnd = { ...unchanged, when: "period_end" } as const;
    const pro = { priceId: null, resultingPriceId: "price_pro_monthly" };
    const team = { priceId: "price_team_monthly", resultingPriceId: "price_team_monthly" };
    await api.changeSubscription(id, { ...atPeriodEnd, ...pro, seats: 5, resultingSeats: 5 });
    expect(await storedSubscriptions()).toMatchObject([{ planId: "pro", seats: 2 }]);
    await forward("month");
    expect(await storedSubscriptions()).toMatchObject([{ planId: "pro", seats: 5 }]);

    // A later change replaces the one that waits.
    await api.changeSubscription(id, { ...atPeriodEnd, ...pro, seats: 4, resultingSeats: 4 });
    // Both plans allow five seats: for the next period, Polar takes no more than the present product allows.
    await api.changeSubscription(id, { ...atPeriodEnd, ...team, seats: 5, resultingSeats: 5 });
    await sim.settle();
    expect(await storedSubscriptions()).toMatchObject([{ planId: "pro", seats: 5 }]);
    const [{ periodEndSeconds }] = (await control(sim.url, "/state")).slots["provider-a"].subscriptions;
    expect(await api.fetchScheduledChange(id, "price_pro_monthly")).toEqual({
      priceId: "price_team_monthly",
      seats: 5,
      at: new Date(periodEndSeconds * 1000),
    });
    await forward("month");
    expect(await storedSubscriptions()).toMatchObject([{ planId: "team", seats: 5, status: "active" }]);
    await close();
  });

  it("are shown when they were scheduled elsewhere", async () => {
    const { api, buy, scheduledChanges, close } = await shopWith(format);
    const { id } = await buy();
    const team = { priceId: "price_team_monthly", resultingPriceId: "price_team_monthly" };
    const change = { ...unchanged, ...team, when: "period_end", seats: 5, resultingSeats: 5 } as const;
    await api.changeSubscription(id, change);
    await eventually(scheduledChanges, [{ planId: "team", seats: 5 }]);
    await close();
  });

  it("are replaced by one at once, and withdrawn", async () => {
    const { api, buy, storedSubscriptions, close } = await shopWith(format);
    const { id, forward } = await buy();
    const pro = { ...unchanged, resultingPriceId: "price_pro_monthly" };
    const atPeriodEnd = { ...pro, when: "period_end" } as const;
    await api.changeSubscription(id, { ...atPeriodEnd, seats: 5, resultingSeats: 5 });
    await api.changeSubscription(id, { ...pro, when: "now", seats: 3, resultingSeats: 3 });
    await forward("month");
    expect(await storedSubscriptions()).toMatchObject([{ planId: "pro", seats: 3 }]);

    const team = { priceId: "price_team_monthly", resultingPriceId: "price_team_monthly" };
    await api.changeSubscription(id, { ...atPeriodEnd, ...team, seats: 5, resultingSeats: 5 });
    await api.changeSubscription(id, { ...atPeriodEnd, seats: 4, resultingSeats: 4 });
    await forward("month");
    expect(await storedSubscriptions()).toMatchObject([{ planId: "pro", seats: 4 }]);

    await api.changeSubscription(id, { ...atPeriodEnd, seats: 5, resultingSeats: 5 });
    for (const _ of ["withdrawn", "nothing to withdraw"])
      await api.changeSubscription(id, { ...atPeriodEnd, resultingSeats: 4 });
    expect(await api.fetchScheduledChange(id, "price_pro_monthly")).toBeNull();
    await forward("month");
    expect(await storedSubscriptions()).toMatchObject([{ planId: "pro", seats: 4 }]);
    await close();
  });
});

it("a change at the end of the period that is withdrawn elsewhere is no longer shown, at Stripe", async () => {
  const { api, buy, scheduledChanges, close } = await shopWith("stripe");
  const { id } = await buy();
  const later = { ...unchanged, when: "period_end", resultingPriceId: "price_pro_monthly" } as const;
  await api.changeSubscription(id, { ...later, seats: 5, resultingSeats: 5 });
  await eventually(scheduledChanges, [{ planId: "pro", seats: 5 }]);
  await api.changeSubscription(id, { ...later, seats: null, resultingSeats: 2 });
  await eventually(scheduledChanges, []);
  await close();
});

it("a change at the end of the period costs what the preview says, at Stripe", async () => {
  const { sim, api, buy, close } = await shopWith("stripe");
  const { id } = await buy();
  const later = { ...unchanged, when: "period_end", seats: 5, resultingSeats: 5 } as const;
  const preview = await api.previewChange(id, { ...later, resultingPriceId: "price_pro_monthly" });
  const [subscription] = (await control(sim.url, "/state")).slots["provider-a"].subscriptions;
  const at = new Date(subscription.periodEndSeconds * 1000);
  expect(preview).toEqual({ amountDue: 10_000, currency: "EUR", at });
  await close();
});

it.each(["stripe", "paddle"])(
  "changes in the format %s cost at once what the preview says, of which earlier credit pays a part, and nothing in a trial",
  async (format) => {
    const pro = { ...unchanged, when: "now", resultingPriceId: "price_pro_monthly" } as const;
    for (const fields of [{ trial: "on" }, {}]) {
      const { sim, api, agree, buy, close } = await shopWith(format);
      const { id } = await buy(fields);
      const before = sim.payments("provider-a").length;
      const previews: (number | undefined)[] = [];
      for (const seats of [4, 1, 5]) {
        const change = { ...pro, seats, resultingSeats: seats };
        previews.push((await api.previewChange(id, change))?.amountDue);
        await api.changeSubscription(id, change);
      }
      await agree();
      const charged = sim.payments("provider-a").slice(before);
      if ("trial" in fields) expect([previews, charged]).toEqual([[0, 0, 0], []]);
      else expect(previews.map((due) => Math.max(0, due ?? -1))).toEqual(charged.map(({ amount }) => amount));
      await close();
    }
  },
);

function storedPayments(userId: string): Promise<Record<string, unknown>[]> {
  return test.rows(
    `select provider_payment_id as "providerPaymentId", provider_subscription_id as "providerSubscriptionId",
       amount::int as amount, currency, status
     from payment where user_id = $1 or provider_subscription_id in (
       select provider_subscription_id from subscription where user_id = $1) order by occurred_at`,
    [userId],
  );
}

describe.each(wireFormats())("refunds and disputes in the format %s", (format) => {
  it("reach the product as the provider's own events", async () => {
    const { sim, userId, buy, close } = await shopWith(format);
    const { forward } = await buy();
    await forward("month");
    const payments = () => sim.payments("provider-a");
    const stored = () => storedPayments(userId);
    const reversePayment = async (action: string, fields: object) => {
      await control(sim.url, `/provider-a/${action}`, fields);
      await sim.settle();
      await eventually(stored, payments() as never);
    };
    await eventually(stored, payments() as never);
    const [first, renewal] = payments().map(({ providerPaymentId }) => providerPaymentId) as [string, string];

    await reversePayment("refund", { payment: first, amount: 1 });
    expect(payments()).toMatchObject([{ status: "partly_refunded" }, { status: "paid" }]);
    await reversePayment("refund", { payment: first });
    expect(payments()).toMatchObject([{ status: "refunded" }, { status: "paid" }]);
    await expect(control(sim.url, "/provider-a/refund", { payment: first })).rejects.toThrow(/refunded/);

    await control(sim.url, "/provider-a/dispute", { payment: renewal });
    // Polar has no events for disputes: they are found when payments are compared.
    if (format !== "polar") {
      await sim.settle();
      await eventually(stored, payments() as never);
      const isRefunded = payments().at(-1)?.status === "refunded";
      if (!isRefunded) {
        expect(payments()).toMatchObject([{ status: "refunded" }, { status: "disputed" }]);
        await reversePayment("win-dispute", { payment: renewal });
        expect(payments()).toMatchObject([{ status: "refunded" }, { status: "paid" }]);
        await reversePayment("dispute", { payment: renewal });
        await reversePayment("lose-dispute", { payment: renewal });
        expect(payments()).toMatchObject([{ status: "refunded" }, { status: "disputed" }]);
        for (const action of ["win-dispute", "lose-dispute"])
          await expect(control(sim.url, `/provider-a/${action}`, { payment: renewal })).rejects.toThrow(
            /no dispute that is open/,
          );
      }
    }
    await close();
  });
});

describe.each(wireFormats())("a refund of the latest payment in the format %s", (format) => {
  it("is made once, when it is asked for again or was made by hand as well", async () => {
    const { sim, api, buy, close } = await shopWith(format);
    const { id, forward } = await buy();
    await forward("month");
    const statuses = () => sim.payments("provider-a").map(({ status }) => status);
    for (const _ of ["the first time", "its answer was lost"]) {
      expect(await api.refundSubscription(id)).toBe(true);
      expect(statuses()).toEqual(["paid", "refunded"]);
    }
    await forward("month");
    const [, , latest] = sim.payments("provider-a");
    await control(sim.url, "/provider-a/refund", { payment: latest?.providerPaymentId });
    expect(await api.refundSubscription(id)).toBe(true);
    expect(statuses()).toEqual(["paid", "refunded", "refunded"]);
    await close();
  });
});

describe.each(wireFormats())("the lifecycle in the format %s", (format) => {
  it("activates a subscription when it is paid", async () => {
    const { sim, api, order, agree, storedSubscriptions, close } = await shopWith(format);
    const checkout = await api.createCheckout(order);
    expect(checkout.url).toContain(`${sim.url}/provider-a/checkout/`);
    const page = await (await fetch(checkout.url)).text();
    expect(page).toContain("Simulated provider: no money moves");
    expect(page).toContain("Pay 40.00 EUR");

    const declined = await press(checkout.url, { ...CARD, action: "decline" });
    expect(declined.status).toBe(422);
    expect(declined.text).toContain("The card was declined");
    expect(sim.subscriptions("provider-a")).toEqual([]);

    const cancelled = await press(checkout.url, { action: "cancel" });
    if (format !== "paddle" && format !== "lemon-squeezy")
      expect(cancelled.headers.get("location")).toBe(CANCEL_URL);
    else expect(cancelled.text).toContain("Nothing was bought");

    const another = await api.createCheckout({ ...order, idempotencyKey: "another" });
    const paid = await press(another.url, { ...CARD, action: "pay" });
    if (format === "paddle") expect(paid.text).toContain("Paid");
    else expect(paid.headers.get("location")).toBe(SUCCESS_URL);
    await agree();
    expect(await storedSubscriptions()).toMatchObject([
      { userId: order.userId, planId: "pro", seats: 2, status: "active", cancelAtPeriodEnd: false },
    ]);
    const secondPayment = await press(another.url, { ...CARD, action: "pay" });
    expect(secondPayment.headers.get("location")).toBe(paid.headers.get("location"));
    expect(sim.subscriptions("provider-a")).toHaveLength(1);
    await close();
  });

  it("lets customers change seats and plan, cancel and resume", async () => {
    const { sim, storedSubscriptions, buy, close } = await shopWith(format);
    const { act, forward } = await buy();
    await act("seats", { seats: "5" });
    expect(await storedSubscriptions()).toMatchObject([{ seats: 5, planId: "pro" }]);
    await act("plan", { price: "price_team_monthly" });
    expect(await storedSubscriptions()).toMatchObject([{ seats: 5, planId: "team" }]);
    await act("cancel_at_period_end");
    expect(await storedSubscriptions()).toMatchObject([{ status: "active", cancelAtPeriodEnd: true }]);
    await act("resume");
    expect(await storedSubscriptions()).toMatchObject([{ status: "active", cancelAtPeriodEnd: false }]);
    await act("cancel_at_period_end");
    await forward("month");
    expect(await storedSubscriptions()).toMatchObject([{ status: "canceled" }]);
    expect(sim.subscriptions("provider-a")).toMatchObject([{ status: "canceled" }]);
    await close();
  });

  it("pauses until the pause ends, and charges a period only when the paid one is over", async () => {
    const { sim, storedSubscriptions, buy, close } = await shopWith(format);
    const { act, forward } = await buy();
    const payments = () => sim.payments("provider-a").length;
    const before = payments();
    await act("pause");
    expect(await storedSubscriptions()).toMatchObject([{ status: "paused", cancelAtPeriodEnd: false }]);
    await act("end_pause");
    expect(await storedSubscriptions()).toMatchObject([{ status: "active" }]);
    expect(payments()).toBe(before);
    await act("pause");
    await forward("month");
    expect(await storedSubscriptions()).toMatchObject([{ status: "paused" }]);
    expect(payments()).toBe(before);
    await act("end_pause");
    expect(await storedSubscriptions()).toMatchObject([{ status: "active" }]);
    expect(payments()).toBe(before + 1);
    await close();
  });

  it("ends with the last of two changes, though the server refuses the first one at first", async () => {
    const { sim, storedSubscriptions, refuseNext, agree, buy, close } = await shopWith(format);
    const { id, portal } = await buy();
    await refuseNext();
    for (const seats of ["4", "5"]) {
      const answer = await press(await portal(), { subscription: id, action: "seats", seats });
      expect(answer.status, answer.text).toBe(303);
    }
    await agree();
    expect(await storedSubscriptions()).toMatchObject([{ seats: 5 }]);
    expect(sim.events("provider-a").some(({ tries }) => tries.length > 1)).toBe(true);
    await close();
  });

  it("charges seats that a customer adds in the portal as the provider does", async () => {
    const { sim, userId, storedSubscriptions, buy, close } = await shopWith(format);
    const { act, forward } = await buy();
    const amounts = async () => {
      await eventually(() => storedPayments(userId), sim.payments("provider-a") as never);
      return sim.payments("provider-a").map(({ amount }) => amount);
    };
    const [state] = (await control(sim.url, "/state")).slots["provider-a"].subscriptions;
    await forward(Math.round((state.periodEndSeconds - state.periodStartSeconds) / 2));
    await act("seats", { seats: "4" });
    const isChargedNow = format === "stripe" || format === "paddle";
    expect(await amounts()).toEqual(isChargedNow ? [4_000, 2_000] : [4_000]);
    await forward("month");
    const isChargedLater = format === "polar" || format === "lemon-squeezy";
    expect((await amounts()).at(-1)).toBe(isChargedLater ? 10_000 : 8_000);
    // Going back is paid for by credit: there is nothing to give back.
    await act("seats", { seats: "1" });
    for (const { providerPaymentId: payment } of sim
      .payments("provider-a")
      .filter(({ amount }) => amount === 0))
      await expect(control(sim.url, "/provider-a/refund", { payment })).rejects.toThrow(
        "Nothing was charged",
      );
    expect(sim.payments("provider-a").some(({ amount }) => amount === 0)).toBe(isChargedNow);
    // Nor can a renewal fail that credit pays in full.
    await act("fail_renewal");
    await forward("month");
    const [renewed] = await storedSubscriptions();
    expect(renewed?.status === "active").toBe(isChargedNow || isChargedLater);
    await close();
  });

  it("renews, becomes past due, recovers, and ends when never paid", async () => {
    const { sim, storedSubscriptions, buy, close } = await shopWith(format);
    const { act, forward } = await buy();
    const periodEnd = async () =>
      (await control(sim.url, "/state")).slots["provider-a"].subscriptions[0].periodEndSeconds;
    const first = await periodEnd();
    await forward("month");
    expect((await periodEnd()) - first).toBeGreaterThan(27 * 86_400);
    expect(await storedSubscriptions()).toMatchObject([{ status: "active" }]);
    await act("fail_renewal");
    await forward("month");
    expect(await storedSubscriptions()).toMatchObject([{ status: "past_due" }]);
    await act("pay_owed");
    expect(await storedSubscriptions()).toMatchObject([{ status: "active" }]);
    await forward("month");
    expect(await storedSubscriptions()).toMatchObject([{ status: "past_due" }]);
    await act("allow_renewal");
    await forward("next");
    expect(await storedSubscriptions()).toMatchObject([{ status: "active" }]);
    await act("fail_renewal");
    await forward("month");
    for (let step = 0; step < 6 && sim.subscriptions("provider-a")[0]?.status !== "canceled"; step += 1)
      await forward("next");
    expect(await storedSubscriptions()).toMatchObject([{ status: "canceled" }]);
    await close();
  });

  it("reports each failed charge, and the payment when it is made after all", async () => {
    const { sim, userId, buy, close } = await shopWith(format);
    const { act, forward } = await buy();
    const statuses = async () => {
      await eventually(() => storedPayments(userId), sim.payments("provider-a") as never);
      return sim.payments("provider-a").map(({ status }) => status);
    };
    // Polar and the fifth provider report only that the subscription is past due.
    const failed = ["stripe", "paddle", "lemon-squeezy"].includes(format) ? ["failed"] : [];
    await act("fail_renewal");
    await forward("month");
    expect(await statuses()).toEqual(["paid", ...failed]);
    const [, attempt] = sim.payments("provider-a");
    await forward("next");
    expect(await statuses()).toEqual(["paid", ...failed]);
    if (attempt) {
      const payment = attempt.providerPaymentId;
      await expect(control(sim.url, "/provider-a/refund", { payment })).rejects.toThrow("nothing was paid");
    }
    await act("pay_owed");
    expect(await statuses()).toEqual(["paid", "paid"]);
    if (attempt) expect(sim.payments("provider-a")[1]?.providerPaymentId).toBe(attempt.providerPaymentId);
    const sql = "select from outbound_event where type = 'payment.failed' and data->>'userId' = $1";
    expect(await test.rows(sql, [userId])).toHaveLength(failed.length);
    await close();
  });

  it("starts with a trial on request", async () => {
    const { storedSubscriptions, buy, close } = await shopWith(format);
    const { forward } = await buy({ trial: "on" });
    expect(await storedSubscriptions()).toMatchObject([{ status: "trialing" }]);
    await forward(15 * 86_400);
    expect(await storedSubscriptions()).toMatchObject([{ status: "active" }]);
    await close();
  });

  it("ends when it is canceled, at once or with its period, as had been scheduled", async () => {
    const { api, agree, buy, storedSubscriptions, close } = await shopWith(format);
    const { id, act } = await buy();
    await act("cancel_at_period_end");
    expect(await api.cancelSubscription(id)).toBe("canceled");
    await agree();
    const [{ status, cancelAtPeriodEnd } = {}] = await storedSubscriptions();
    // Lemon Squeezy has no other way, and Paddle leaves a scheduled end as it is.
    const endsWithPeriod = format === "paddle" || format === "lemon-squeezy";
    expect(status === "canceled").toBe(!endsWithPeriod);
    if (endsWithPeriod) expect(cancelAtPeriodEnd).toBe(true);
    await close();
  });

  it("answers API calls for the subscription, its end and its events", async () => {
    const { sim, api, agree, buy, storedSubscriptions, order, close } = await shopWith(format);
    const { id, customerId } = await buy();
    expect(await api.fetchSubscription(id)).toMatchObject({
      kind: "customer.subscription.updated",
      providerSubscriptionId: id,
      customerId,
      status: "active",
      cancelAtPeriodEnd: false,
      items: [{ seats: 2 }],
    });
    expect(await api.fetchSubscription("nobody")).toBeNull();
    await expect(
      api.createCheckout({ ...order, priceId: "price_unknown", idempotencyKey: "x" }),
    ).rejects.toMatchObject({
      failure: expect.stringMatching(/missing|rejected/),
    });
    await api.cancelSubscription(id);
    await api.cancelSubscription(id);
    await agree();
    const ended =
      format === "lemon-squeezy" ? { status: "active", cancelAtPeriodEnd: true } : { status: "canceled" };
    expect(await storedSubscriptions()).toMatchObject([ended]);
    if (api.listEvents) {
      const listed = await Array.fromAsync(api.listEvents(new Date(Date.now() - 3_600_000)));
      expect(listed.length).toBeGreaterThanOrEqual(3);
      const sent = (await control(sim.url, "/state")).slots["provider-a"].deliveries;
      expect(sent.map((event: { eventId: string }) => event.eventId)).toEqual(
        expect.arrayContaining(listed.map(({ eventId }) => eventId)),
      );
    }
    const stranger = createPaymentApi({
      slot: "provider-a",
      format,
      apiKey: "another",
      apiUrl: `${sim.url}/provider-a`,
    } as const);
    await expect(stranger.fetchSubscription(id)).rejects.toMatchObject({ failure: "unauthorized" });
    await close();
  });
});
