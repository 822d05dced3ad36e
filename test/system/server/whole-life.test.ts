import { afterEach, describe, expect, it } from "vitest";
import { traitsOf, wireFormats } from "../../../src/providers/registry.ts";
import { control } from "../../simulator/test-context.ts";
import { cleanUp } from "../../support/cleanup.ts";
import { eventually } from "../../support/eventually.ts";
import { sendRequest } from "../../support/http.ts";
import { createAdmin, createUser, type TestUser } from "../../support/people.ts";
import { runWholeLife, startProviderContext } from "./provider-context.ts";
import "../../fixtures/fifth-provider.ts";

const NOT_SUPPORTED = "The payment provider does not support this change";
const ENDING = "The subscription is set to end: continue it in the billing portal first";
const OUTSIDE_CURRENT_PLAN =
  "For the next period, the number of seats must be within the current plan's limits: change now, or change the seats once the new plan has started";
const SUBSCRIBED =
  "The user already has this plan, or a subscription: change or cancel a subscription in the billing portal";

// Together, their servers would take all connections that PostgreSQL allows.
afterEach(cleanUp);

describe.each(wireFormats())("plan and seats in the format %s", (format) => {
  it("change at once or at the end of the period, after a preview", async () => {
    const context = await startProviderContext(format);
    const { post, atApi, waitUntilEqual, buy, forward } = context;
    const person = await createUser(context.test);
    await buy(person, { planId: "pro", seats: 2 });
    await waitUntilEqual(person);
    const { body: listed } = await sendRequest(context.server.url, "GET", "/api/subscriptions", person);
    const change = (body: object) =>
      post(`/api/subscriptions/${listed.subscriptions[0].id}/change`, person, body);

    const previewed = await change({ seats: 4, when: "now", preview: true });
    expect(previewed.status, previewed.text).toBe(200);
    const givesPreviews = format === "stripe" || format === "paddle";
    expect(previewed.body).toMatchObject({
      subscription: { seats: 2 },
      preview: givesPreviews
        ? { amountDue: expect.any(Number), currency: "EUR", at: expect.any(String) }
        : null,
    });
    expect((await change({ seats: 4, when: "now" })).body).toMatchObject({
      subscription: { planId: "pro", seats: 4 },
      preview: null,
    });
    expect((await change({ seats: 4, when: "now", preview: true })).body.preview).toMatchObject({
      amountDue: 0,
      currency: "EUR",
    });
    expect((await change({ planId: "team", seats: 6, when: "now" })).status).toBe(200);
    // Polar takes two requests for both: the event of the first may arrive last.
    await waitUntilEqual(person);
    expect(await atApi(person)).toMatchObject([{ planId: "team", seats: 6 }]);
    expect((await change({ seats: 4, when: "now" })).status).toBe(400);

    if (format === "polar") {
      // Also for the next period, it takes only as many seats as the present product allows.
      for (const preview of [true, false]) {
        const tooFew = await change({ planId: "pro", seats: 1, when: "period_end", preview });
        expect([tooFew.status, tooFew.body.error]).toEqual([409, OUTSIDE_CURRENT_PLAN]);
      }
      // And only to a product that covers the seats that there are.
      const tooMany = await change({ planId: "pro", seats: 5, when: "period_end" });
      expect([tooMany.status, tooMany.body.error]).toEqual([409, NOT_SUPPORTED]);
      expect((await change({ seats: 5, when: "now" })).status).toBe(200);
    }
    const seats = format === "polar" ? 5 : 1;
    const later = await change({ planId: "pro", seats, when: "period_end" });
    const changesAtPeriodEnd = format === "stripe" || format === "polar";
    if (changesAtPeriodEnd) {
      const seatsNow = format === "polar" ? 5 : 6;
      expect(later.body).toMatchObject({ subscription: { planId: "team", seats: seatsNow } });
      await forward("month");
      await waitUntilEqual(person);
      expect(await atApi(person)).toMatchObject([{ planId: "pro", seats }]);
    } else {
      expect([later.status, later.body.error]).toEqual([409, NOT_SUPPORTED]);
    }
    await context.press(person, "cancel_at_period_end");
    await waitUntilEqual(person);
    const tooLate = await change({ planId: "pro", seats: 3, when: "period_end" });
    expect([tooLate.status, tooLate.body.error]).toEqual([409, changesAtPeriodEnd ? ENDING : NOT_SUPPORTED]);
  });
});

describe.each(wireFormats())("the billing interval in the format %s", (format) => {
  it("changes at once or at the end of the period, at the price that the preview says", async () => {
    const context = await startProviderContext(format);
    const { post, sim, test, waitUntilEqual, buy, forward } = context;
    const person = await createUser(context.test);
    await buy(person, { planId: "pro", seats: 2 });
    await waitUntilEqual(person);
    const stored = () =>
      test.rows<Record<string, unknown>>(
        `select id, price_id, plan_id, seats, extract(epoch from current_period_end)::int as ends from subscription`,
      );
    const id = (await stored())[0]?.id;
    const change = (body: object) => post(`/api/subscriptions/${id}/change`, person, body);
    /** Waits until it is stored as the provider has it, and returns the days of its period. */
    const daysPaidBy = async (price_id: string): Promise<number> => {
      await waitUntilEqual(person);
      const [truth] = (await control(sim.url, "/state")).slots["provider-a"].subscriptions;
      await eventually(stored, [
        { id, price_id, plan_id: "pro", seats: 2, ends: Math.round(truth.periodEndSeconds) },
      ]);
      return (truth.periodEndSeconds - truth.periodStartSeconds) / 86_400;
    };

    const before = sim.payments("provider-a").length;
    const yearly = { interval: "year", when: "now" };
    const { preview } = (await change({ ...yearly, preview: true })).body;
    expect((await change(yearly)).status).toBe(200);
    expect(await daysPaidBy("price_pro_yearly")).toBeGreaterThanOrEqual(365);
    const charged = sim.payments("provider-a").slice(before);
    // The made-up provider never charges a change. Two seats for a year, without the rest of the month.
    expect(charged).toHaveLength(format === "acme-pay" ? 0 : 1);
    for (const { amount } of charged) expect(amount).toBeGreaterThan(30_000);
    if (preview !== null) expect(charged).toMatchObject([{ amount: preview.amountDue }]);

    const later = await change({ interval: "month", when: "period_end" });
    if (traitsOf(format).changesAtPeriodEnd) {
      expect(later.status, later.text).toBe(200);
      expect(await daysPaidBy("price_pro_yearly")).toBeGreaterThanOrEqual(365);
      await forward(366 * 86_400);
      expect(await daysPaidBy("price_pro_monthly")).toBeLessThanOrEqual(31);
    } else {
      expect([later.status, later.body.error]).toEqual([409, NOT_SUPPORTED]);
    }
  });
});

describe.each(wireFormats())("payments in the format %s", (format) => {
  it("are refunded and disputed: administrators are notified, and access follows the plan", async () => {
    const context = await startProviderContext(format);
    const { server, sim, buy, waitUntilEqual, forward } = context;
    const [person, administrator] = [await createUser(context.test), await createAdmin(context.test)];
    const read = async (path: string, { cookie }: TestUser) =>
      (await sendRequest(server.url, "GET", path, { cookie })).body;
    const payments = async () =>
      (await read("/api/payments", person)).payments
        .map(({ providerPaymentId, status, amount, currency }: Record<string, unknown>) => ({
          providerPaymentId,
          status,
          amount,
          currency,
        }))
        .reverse();
    const atProvider = () =>
      sim.payments("provider-a").map(({ providerSubscriptionId: _, ...payment }) => payment);
    const notified = async () =>
      (await read("/api/notifications", administrator)).notifications
        .map(({ kind }: { kind: string }) => kind)
        .filter((kind: string) => kind.startsWith("payment_"))
        .reverse();
    const planId = async () => (await read("/api/entitlements", person)).planId;
    const reversePayment = async (action: string, fields: object) => {
      await control(sim.url, `/provider-a/${action}`, fields);
      await sim.settle();
      await eventually(payments, atProvider());
    };

    await buy(person, { planId: "pro", seats: 2 });
    await forward("month");
    await waitUntilEqual(person);
    await eventually(payments, atProvider());
    const [first, renewal] = atProvider().map(({ providerPaymentId }) => providerPaymentId);
    await reversePayment("refund", { payment: first, amount: 100 });
    await reversePayment("refund", { payment: first });
    expect((await payments())[0]).toMatchObject({ status: "refunded" });
    await eventually(notified, ["payment_refunded"]);
    // The latest payment decides.
    expect(await planId()).toBe("pro");
    await reversePayment("refund", { payment: renewal, amount: 100 });
    expect(await planId()).toBe("pro");

    if (format === "polar") {
      // It sends no events for disputes: comparing finds them.
      await control(sim.url, "/provider-a/dispute", { payment: renewal });
      await context.tollgate("webhooks", "reconcile");
      await eventually(payments, atProvider());
    } else await reversePayment("dispute", { payment: renewal });
    const status = atProvider().at(-1)?.status as string;
    await eventually(notified, ["payment_refunded", `payment_${status}`]);
    expect(await planId()).toBe("free");
    if (status === "disputed") {
      await control(sim.url, "/provider-a/win-dispute", { payment: renewal });
      await sim.settle();
      if (format === "polar") await context.tollgate("webhooks", "reconcile");
      await eventually(payments, atProvider());
      expect((await payments())[1]).toMatchObject({ status: "partly_refunded" });
      expect(await planId()).toBe("pro");
    }
  });
});

describe.each(wireFormats())("a subscription managed over the API, in the format %s", (format) => {
  it("matches the provider's through its whole life", async () => {
    const context = await startProviderContext(format);
    const { server, sim, post, atApi, atProvider, waitUntilEqual, buy } = context;
    const person = await createUser(context.test);
    const bystander = await createUser(context.test);
    expect((await post("/api/portal", person)).status).toBe(409);

    await runWholeLife(context, [person], async (step) => {
      await waitUntilEqual(person);
      expect(await atApi(person), step.title).toMatchObject([step.result]);
      const secondCheckout = await post("/api/checkout", person, { planId: "team" });
      const isOver = atProvider(person)[0]?.status === "canceled";
      expect([secondCheckout.status, secondCheckout.body.error], step.title).toEqual(
        isOver ? [200, undefined] : [409, SUBSCRIBED],
      );
    });

    const [first] = await atApi(person);
    await buy(person, { planId: "pro", seats: 3 });
    await waitUntilEqual(person);
    const subscriptions = await atApi(person);
    expect(subscriptions).toHaveLength(2);
    expect(subscriptions).toContainEqual(first);
    expect(subscriptions).toContainEqual(
      expect.objectContaining({ planId: "pro", seats: 3, status: "active" }),
    );
    // The newest is listed first, and is the one that the portal opens.
    const listed = await sendRequest(server.url, "GET", "/api/subscriptions", { cookie: person.cookie });
    expect(listed.body.subscriptions[0]).toMatchObject({ status: "active" });
    await context.press(person, "seats", { seats: "1" });
    await waitUntilEqual(person);
    expect(await atApi(person)).toContainEqual(expect.objectContaining({ seats: 1, status: "active" }));

    expect(await atApi(bystander)).toEqual([]);
    const { deliveries } = (await control(sim.url, "/state")).slots["provider-a"];
    expect(deliveries.filter((delivery: { status: string }) => delivery.status !== "delivered")).toEqual([]);
    const odd = await context.test.rows(
      "select status, last_error from webhook_delivery where status <> 'successful'",
    );
    expect(odd).toEqual([]);
  });
});
