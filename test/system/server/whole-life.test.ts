import { describe, expect, it } from "vitest";
import { wireFormats } from "../../../src/providers/registry.ts";
import { control } from "../../simulator/test-context.ts";
import { eventually } from "../../support/eventually.ts";
import { sendRequest } from "../../support/http.ts";
import { createAdmin, createUser, type TestUser } from "../../support/people.ts";
import { liveWholeLife, openShop } from "./shop.ts";
import "../../fixtures/fifth-provider.ts";

const SUBSCRIBED = "The user already has a subscription: change or cancel it in the billing portal";

describe.each(wireFormats())("payments in the format %s", (format) => {
  it("are refunded and disputed: administrators are notified, and access follows the plan", async () => {
    const shop = await openShop(format);
    const { server, sim, buy, agree, forward } = shop;
    const [person, administrator] = [await createUser(shop.test), await createAdmin(shop.test)];
    const read = async (path: string, { cookie }: TestUser) =>
      (await sendRequest(server.url, "GET", path, { cookie })).body;
    const payments = async () =>
      (await read("/api/payments", person)).payments
        .map(({ providerPaymentId, status, amount, currency }: Record<string, unknown>) => ({
          ...{ providerPaymentId, status, amount, currency },
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
    const reverse = async (action: string, fields: object) => {
      await control(sim.url, `/provider-a/${action}`, fields);
      await sim.settle();
      await eventually(payments, atProvider());
    };

    await buy(person, { planId: "pro", seats: 2 });
    await forward("month");
    await agree(person);
    await eventually(payments, atProvider());
    const [first, renewal] = atProvider().map(({ providerPaymentId }) => providerPaymentId);
    await reverse("refund", { payment: first, amount: 100 });
    await reverse("refund", { payment: first });
    expect((await payments())[0]).toMatchObject({ status: "refunded" });
    await eventually(notified, ["payment_refunded"]);
    // The latest payment decides.
    expect(await planId()).toBe("pro");
    await reverse("refund", { payment: renewal, amount: 100 });
    expect(await planId()).toBe("pro");

    // Polar only lists disputes.
    if (format === "polar") await reverse("refund", { payment: renewal });
    else await reverse("dispute", { payment: renewal });
    const status = atProvider().at(-1)?.status as string;
    await eventually(notified, ["payment_refunded", `payment_${status}`]);
    expect(await planId()).toBe("free");
    if (status === "disputed") {
      await reverse("win-dispute", { payment: renewal });
      expect((await payments())[1]).toMatchObject({ status: "partly_refunded" });
      expect(await planId()).toBe("pro");
    }
  });
});

describe.each(wireFormats())("a subscription managed over the API, in the format %s", (format) => {
  it("matches the provider's through its whole life", async () => {
    const shop = await openShop(format);
    const { server, sim, post, known, truth, agree, buy } = shop;
    const person = await createUser(shop.test);
    const bystander = await createUser(shop.test);
    expect((await post("/api/portal", person)).status).toBe(409);

    await liveWholeLife(shop, [person], async (step) => {
      await agree(person);
      expect(await known(person), step.is).toMatchObject([step.leaves]);
      const again = await post("/api/checkout", person, { planId: "team" });
      const isOver = truth(person)[0]?.status === "canceled";
      expect([again.status, again.body.error], step.is).toEqual(
        isOver ? [200, undefined] : [409, SUBSCRIBED],
      );
    });

    const [first] = await known(person);
    await buy(person, { planId: "pro", seats: 3 });
    await agree(person);
    const both = await known(person);
    expect(both).toHaveLength(2);
    expect(both).toContainEqual(first);
    expect(both).toContainEqual(expect.objectContaining({ planId: "pro", seats: 3, status: "active" }));
    // The newest is listed first, and is the one that the portal opens.
    const listed = await sendRequest(server.url, "GET", "/api/subscriptions", { cookie: person.cookie });
    expect(listed.body.subscriptions[0]).toMatchObject({ status: "active" });
    await shop.press(person, "seats", { seats: "1" });
    await agree(person);
    expect(await known(person)).toContainEqual(expect.objectContaining({ seats: 1, status: "active" }));

    expect(await known(bystander)).toEqual([]);
    const { deliveries } = (await control(sim.url, "/state")).slots["provider-a"];
    expect(deliveries.filter((delivery: { status: string }) => delivery.status !== "delivered")).toEqual([]);
    const odd = await shop.test.rows(
      "select status, last_error from webhook_delivery where status <> 'successful'",
    );
    expect(odd).toEqual([]);
  });
});
