import { describe, expect, it } from "vitest";
import { wireFormats } from "../../../src/providers/registry.ts";
import { control } from "../../simulator/test-context.ts";
import { sendRequest } from "../../support/http.ts";
import { createUser } from "../../support/people.ts";
import { liveWholeLife, openShop } from "./shop.ts";
import "../../fixtures/fifth-provider.ts";

const SUBSCRIBED = "The user already has a subscription: change or cancel it in the billing portal";

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
