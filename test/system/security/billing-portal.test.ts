import { describe, expect, it } from "vitest";
import type { WireFormat } from "../../../src/providers/adapter.ts";
import { loadFixture, signedDelivery } from "../../fixtures/fixture.ts";
import { API_KEY, control, press } from "../../simulator/test-context.ts";
import { deliverWebhook, sendRequest } from "../../support/http.ts";
import { cookieOf, createUser, type TestUser } from "../../support/people.ts";
import { SECRETS } from "../../support/variables.ts";
import { openShop, type Shop } from "../server/shop.ts";

const VICTIM = "victim@example.com";
const FORMATS: readonly WireFormat[] = ["stripe", "paddle", "polar", "lemon-squeezy"];

describe.each(FORMATS)("the portal of %s's customers", (format) => {
  it("is not opened for a user who signs up with the address of a customer", async () => {
    const shop = await openShop(format);
    const subscriptionId = await buyAtProvider(shop, format);
    const attacker = await signUpAs(shop, VICTIM);
    const checkout = await shop.post("/api/checkout", attacker, { planId: "pro" });
    if (format === "paddle") {
      expect([checkout.status, checkout.body.error]).toEqual([
        403,
        expect.stringContaining("confirm the address first"),
      ]);
      return;
    }
    await pay(checkout.body.url, VICTIM);
    await shop.agree(attacker);
    await expectHidden(shop, attacker, subscriptionId);

    // The owner of the address confirms it, and sees what was bought with it.
    if (format === "stripe") return;
    await shop.test.rows(`update "user" set email_verified = true where id = $1`, [attacker.id]);
    expect(await portalOf(shop, attacker)).toContain(subscriptionId);
  });

  it("is not opened for a user who enters the address of a customer at the checkout", async () => {
    const shop = await openShop(format);
    const subscriptionId = await buyAtProvider(shop, format);
    const attacker = await createUser(shop.test);
    await buyWith(shop, attacker, VICTIM);
    await expectHidden(shop, attacker, subscriptionId);
    // Neither does a confirmed address of their own help.
    await shop.test.rows(`update "user" set email_verified = true where id = $1`, [attacker.id]);
    await expectHidden(shop, attacker, subscriptionId);
  });

  it("is not opened for a user who pays with the address of another user", async () => {
    const shop = await openShop(format);
    const victim = await signUpAs(shop, VICTIM);
    await shop.test.rows(`update "user" set email_verified = true where id = $1`, [victim.id]);
    await buyWith(shop, victim, VICTIM);
    const [bought] = shop.truth(victim);
    if (!bought?.providerSubscriptionId) throw new Error("nothing was bought");
    if (format === "polar") await cancelAtPolar(shop, bought.providerSubscriptionId);
    const attacker = await createUser(shop.test);
    await buyWith(shop, attacker, VICTIM);
    await expectHidden(shop, attacker, bought.providerSubscriptionId);
    const [victims, attackers] = await Promise.all([
      customerIdOf(shop, victim),
      customerIdOf(shop, attacker),
    ]);
    expect(victims).not.toBeNull();
    // Paddle's deliveries name neither owner nor address: it is asked before the id is used.
    if (format !== "paddle") expect(attackers).not.toBe(victims);
    if (format === "polar" || format === "lemon-squeezy") expect(attackers).toBeNull();
  });

  it("opens for a person who has confirmed nothing and bought everything", async () => {
    const shop = await openShop(format);
    const person = await createUser(shop.test);
    await buyWith(shop, person, person.email);
    const [bought] = shop.truth(person);
    expect(await portalOf(shop, person)).toContain(bought?.providerSubscriptionId);
  });
});

it("does not assign a purchase that names no user to whoever has paid with its customer's address", async () => {
  const shop = await openShop("lemon-squeezy");
  await buyAtProvider(shop, "lemon-squeezy");
  const attacker = await createUser(shop.test);
  await buyWith(shop, attacker, VICTIM);
  const { body } = loadFixture("lemon-squeezy", "customer.subscription.updated", {
    ...{ ...UNNAMED, subscriptionId: "9001", customerId: await customerIdDelivered(shop) },
  });
  const event = JSON.parse(JSON.stringify(body).replaceAll("user_0@example.com", VICTIM));
  expect((await deliver(shop, "lemon-squeezy", event)).status).toBe(500);
  expect(
    (await shop.known(attacker)).map((subscription) => subscription.providerSubscriptionId),
  ).not.toContain("9001");
});

it("does not open the portal through a purchase that Polar has assigned to its payer by address", async () => {
  const shop = await openShop("polar");
  const subscriptionId = await buyAtProvider(shop, "polar");
  const attacker = await createUser(shop.test);
  await buyWith(shop, attacker, VICTIM);
  // The older subscription of the customer, to which Polar has given the payer's id.
  const { body } = loadFixture("polar", "customer.subscription.updated", {
    ...{ ...UNNAMED, subscriptionId, customerId: await customerIdDelivered(shop) },
  });
  const event = JSON.parse(JSON.stringify(body).replaceAll("user_0", attacker.id));
  expect((await deliver(shop, "polar", event)).status).toBe(200);
  expect((await shop.known(attacker)).map((subscription) => subscription.providerSubscriptionId)).toContain(
    subscriptionId,
  );
  await expectHidden(shop, attacker, subscriptionId);
});

const UNNAMED = { userId: null, planId: null, priceId: "price_pro_monthly" };

function deliver(shop: Shop, format: WireFormat, event: unknown) {
  const nowSeconds = Math.floor(Date.now() / 1000);
  const delivery = signedDelivery(format, event, { secret: SECRETS["provider-a"], nowSeconds });
  return deliverWebhook(shop.server.url, "provider-a", delivery);
}

/** The customer that the provider has made the payer, according to its deliveries. */
async function customerIdDelivered(shop: Shop): Promise<string> {
  const [row] = await shop.test.rows<{ id: string }>(`
    select coalesce(payload->'data'->'attributes'->>'customer_id', payload->'data'->>'customer_id') as id
    from webhook_delivery where event_type in ('subscription_created', 'subscription.created') limit 1`);
  if (!row?.id) throw new Error("no delivery names a customer");
  return row.id;
}

async function signUpAs(shop: Shop, email: string): Promise<TestUser> {
  const password = "a password of some length";
  const response = await sendRequest(shop.server.url, "POST", "/api/auth/sign-up/email", {
    body: { name: "Somebody", email, password },
  });
  expect(response.status, response.text).toBe(200);
  return { id: response.body.user.id, email, password, name: "Somebody", cookie: cookieOf(response) };
}

/** Orders, and pays with the address; on a page that lets payers log out, where there is a customer to leave. */
async function buyWith(shop: Shop, person: TestUser, address: string): Promise<void> {
  const { body, text } = await shop.post("/api/checkout", person, { planId: "pro" });
  expect(body.url, text).toMatch(/^http/);
  await pay(body.url, address);
  await shop.agree(person);
}

async function pay(url: string, email: string): Promise<void> {
  const paid = await press(url, { email, card: "4242 4242 4242 4242", action: "pay", logout: "on" });
  expect(paid.status, await paid.text()).toBeLessThan(400);
}

async function expectHidden(shop: Shop, attacker: TestUser, subscriptionId: string): Promise<void> {
  expect(await portalOf(shop, attacker)).not.toContain(subscriptionId);
}

/** The portal's page, or the refusal. */
async function portalOf(shop: Shop, person: TestUser): Promise<string> {
  const { status, body, text } = await shop.post("/api/portal", person);
  if (status !== 200) {
    expect([403, 503]).toContain(status);
    return text;
  }
  return (await fetch(body.url)).text();
}

async function customerIdOf(shop: Shop, { id }: TestUser): Promise<string | null> {
  const [row] = await shop.test.rows<{ customer_id: string | null }>(
    "select customer_id from subscription where user_id = $1",
    [id],
  );
  return row?.customer_id ?? null;
}

/** Somebody without an account here buys from the provider directly. Returns their subscription. */
async function buyAtProvider(shop: Shop, format: WireFormat): Promise<string> {
  const { url } = shop.sim;
  // Its events name nobody: they would be retried for days.
  await control(url, "/provider-a/faults", { kind: "drop", share: 1 });
  await pay(await checkoutAtProvider(url, format), VICTIM);
  await control(url, "/provider-a/faults", { kind: "drop", share: 0 });
  const { subscriptions } = (await control(url, "/state")).slots["provider-a"];
  const id = String(subscriptions[0].id);
  // Polar's customers have at most one that runs.
  if (format === "polar") await cancelAtPolar(shop, id);
  return id;
}

async function checkoutAtProvider(url: string, format: WireFormat): Promise<string> {
  const post = async (path: string, body: object | URLSearchParams) => {
    const response = await fetch(`${url}/provider-a${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${API_KEY}`,
        ...(body instanceof URLSearchParams ? {} : { "content-type": "application/json" }),
      },
      body: body instanceof URLSearchParams ? body : JSON.stringify(body),
    });
    expect(response.status, await response.clone().text()).toBeLessThan(300);
    return response.json();
  };
  switch (format) {
    case "stripe": {
      const form = new URLSearchParams({
        ...{ mode: "subscription", success_url: "https://shop.example.com", customer_email: VICTIM },
        ...{ "line_items[0][price]": "price_pro_monthly", "line_items[0][quantity]": "1" },
      });
      return (await post("/v1/checkout/sessions", form)).url;
    }
    case "paddle": {
      const customer = await post("/customers", { email: VICTIM });
      const items = [{ price_id: "price_pro_monthly", quantity: 1 }];
      const transaction = await post("/transactions", { items, customer_id: customer.data.id });
      return transaction.data.checkout.url;
    }
    case "polar":
      return (await post("/v1/checkouts/", { products: ["price_pro_monthly"], customer_email: VICTIM })).url;
    default: {
      const relationships = {
        store: { data: { type: "stores", id: "1" } },
        variant: { data: { type: "variants", id: "price_pro_monthly" } },
      };
      const attributes = { checkout_data: { email: VICTIM } };
      const checkout = await post("/v1/checkouts", {
        data: { type: "checkouts", attributes, relationships },
      });
      return checkout.data.attributes.url;
    }
  }
}

async function cancelAtPolar({ sim }: Shop, subscriptionId: string): Promise<void> {
  const response = await fetch(`${sim.url}/provider-a/v1/subscriptions/${subscriptionId}`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${API_KEY}` },
  });
  expect(response.status).toBe(200);
}
