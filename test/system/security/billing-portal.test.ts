import { afterEach, describe, expect, it } from "vitest";
import type { WireFormat } from "../../../src/providers/adapter.ts";
import { loadFixture, signedDelivery } from "../../fixtures/fixture.ts";
import { API_KEY, control, press } from "../../simulator/test-context.ts";
import { cleanUp } from "../../support/cleanup.ts";
import { deliverWebhook, sendRequest } from "../../support/http.ts";
import { cookieOf, createUser, type TestUser } from "../../support/people.ts";
import { SECRETS } from "../../support/variables.ts";
import { type ProviderContext, startProviderContext } from "../server/provider-context.ts";

const VICTIM = "victim@example.com";
const FORMATS: readonly WireFormat[] = ["stripe", "paddle", "polar", "lemon-squeezy"];

// Together, their servers would take all connections that PostgreSQL allows.
afterEach(cleanUp);

describe.each(FORMATS)("the portal of %s's customers", (format) => {
  it("is not opened for a user who signs up with the address of a customer", async () => {
    const context = await startProviderContext(format);
    const subscriptionId = await buyAtProvider(context, format);
    const attacker = await signUpAs(context, VICTIM);
    const checkout = await context.post("/api/checkout", attacker, { planId: "pro" });
    if (format === "paddle") {
      expect([checkout.status, checkout.body.error]).toEqual([
        403,
        expect.stringContaining("confirm the address first"),
      ]);
      return;
    }
    await pay(checkout.body.url, VICTIM);
    await context.waitUntilEqual(attacker);
    await expectHidden(context, attacker, subscriptionId);

    // The owner of the address confirms it, and sees what was bought with it.
    if (format === "stripe") return;
    await context.test.rows(`update "user" set email_verified = true where id = $1`, [attacker.id]);
    expect(await portalOf(context, attacker)).toContain(subscriptionId);
  });

  it("is not opened for a user who enters the address of a customer at the checkout", async () => {
    const context = await startProviderContext(format);
    const subscriptionId = await buyAtProvider(context, format);
    const attacker = await createUser(context.test);
    await buyWith(context, attacker, VICTIM);
    await expectHidden(context, attacker, subscriptionId);
    // Neither does a confirmed address of their own help.
    await context.test.rows(`update "user" set email_verified = true where id = $1`, [attacker.id]);
    await expectHidden(context, attacker, subscriptionId);
  });

  it("is not opened for a user who pays with the address of another user", async () => {
    const context = await startProviderContext(format);
    const victim = await signUpAs(context, VICTIM);
    await context.test.rows(`update "user" set email_verified = true where id = $1`, [victim.id]);
    await buyWith(context, victim, VICTIM);
    const [bought] = context.atProvider(victim);
    if (!bought?.providerSubscriptionId) throw new Error("nothing was bought");
    if (format === "polar") await cancelAtPolar(context, bought.providerSubscriptionId);
    const attacker = await createUser(context.test);
    await buyWith(context, attacker, VICTIM);
    await expectHidden(context, attacker, bought.providerSubscriptionId);
    const [victims, attackers] = await Promise.all([
      customerIdOf(context, victim),
      customerIdOf(context, attacker),
    ]);
    expect(victims).not.toBeNull();
    // Paddle's deliveries name neither owner nor address: it is asked before the id is used.
    if (format !== "paddle") expect(attackers).not.toBe(victims);
    if (format === "polar" || format === "lemon-squeezy") expect(attackers).toBeNull();
  });

  it("opens for a person who has confirmed nothing and bought everything", async () => {
    const context = await startProviderContext(format);
    const person = await createUser(context.test);
    await buyWith(context, person, person.email);
    const [bought] = context.atProvider(person);
    expect(await portalOf(context, person)).toContain(bought?.providerSubscriptionId);
  });
});

it("does not assign a purchase that names no user to whoever has paid with its customer's address", async () => {
  const context = await startProviderContext("lemon-squeezy");
  await buyAtProvider(context, "lemon-squeezy");
  const attacker = await createUser(context.test);
  await buyWith(context, attacker, VICTIM);
  const { body } = loadFixture("lemon-squeezy", "customer.subscription.updated", {
    ...UNNAMED,
    subscriptionId: "9001",
    customerId: await customerIdDelivered(context),
  });
  const event = JSON.parse(JSON.stringify(body).replaceAll("user_0@example.com", VICTIM));
  expect((await deliver(context, "lemon-squeezy", event)).status).toBe(500);
  expect(
    (await context.atApi(attacker)).map((subscription) => subscription.providerSubscriptionId),
  ).not.toContain("9001");
});

it("does not open the portal through a purchase that Polar has assigned to its payer by address", async () => {
  const context = await startProviderContext("polar");
  const subscriptionId = await buyAtProvider(context, "polar");
  const attacker = await createUser(context.test);
  await buyWith(context, attacker, VICTIM);
  // The older subscription of the customer, to which Polar has given the payer's id.
  const { body } = loadFixture("polar", "customer.subscription.updated", {
    ...UNNAMED,
    subscriptionId,
    customerId: await customerIdDelivered(context),
  });
  const event = JSON.parse(JSON.stringify(body).replaceAll("user_0", attacker.id));
  expect((await deliver(context, "polar", event)).status).toBe(200);
  expect(
    (await context.atApi(attacker)).map((subscription) => subscription.providerSubscriptionId),
  ).toContain(subscriptionId);
  await expectHidden(context, attacker, subscriptionId);
});

const UNNAMED = { userId: null, planId: null, priceId: "price_pro_monthly" };

function deliver(context: ProviderContext, format: WireFormat, event: unknown) {
  const nowSeconds = Math.floor(Date.now() / 1000);
  const delivery = signedDelivery(format, event, { secret: SECRETS["provider-a"], nowSeconds });
  return deliverWebhook(context.server.url, "provider-a", delivery);
}

/** The customer that the provider has made the payer, according to its deliveries. */
async function customerIdDelivered(context: ProviderContext): Promise<string> {
  const [row] = await context.test.rows<{ id: string }>(`
    select coalesce(payload->'data'->'attributes'->>'customer_id', payload->'data'->>'customer_id') as id
    from webhook_delivery where event_type in ('subscription_created', 'subscription.created') limit 1`);
  if (!row?.id) throw new Error("no delivery names a customer");
  return row.id;
}

async function signUpAs(context: ProviderContext, email: string): Promise<TestUser> {
  const password = "a password of some length";
  const response = await sendRequest(context.server.url, "POST", "/api/auth/sign-up/email", {
    body: { name: "Somebody", email, password },
  });
  expect(response.status, response.text).toBe(200);
  return { id: response.body.user.id, email, password, name: "Somebody", cookie: cookieOf(response) };
}

/** Opens a checkout and pays with this address; as another customer where payers can log out. */
async function buyWith(context: ProviderContext, person: TestUser, address: string): Promise<void> {
  const { body, text } = await context.post("/api/checkout", person, { planId: "pro" });
  expect(body.url, text).toMatch(/^http/);
  await pay(body.url, address);
  await context.waitUntilEqual(person);
}

async function pay(url: string, email: string): Promise<void> {
  const paid = await press(url, { email, card: "4242 4242 4242 4242", action: "pay", logout: "on" });
  expect(paid.status, paid.text).toBeLessThan(400);
}

async function expectHidden(
  context: ProviderContext,
  attacker: TestUser,
  subscriptionId: string,
): Promise<void> {
  expect(await portalOf(context, attacker)).not.toContain(subscriptionId);
}

/** The portal's page, or the refusal. */
async function portalOf(context: ProviderContext, person: TestUser): Promise<string> {
  const { status, body, text } = await context.post("/api/portal", person);
  if (status !== 200) {
    expect([403, 503]).toContain(status);
    return text;
  }
  return (await fetch(body.url)).text();
}

async function customerIdOf(context: ProviderContext, { id }: TestUser): Promise<string | null> {
  const [row] = await context.test.rows<{ customer_id: string | null }>(
    "select customer_id from subscription where user_id = $1",
    [id],
  );
  return row?.customer_id ?? null;
}

/** Somebody without an account here buys from the provider directly. Returns their subscription. */
async function buyAtProvider(context: ProviderContext, format: WireFormat): Promise<string> {
  const { url } = context.sim;
  // Its events name nobody: they would be retried for days.
  await control(url, "/provider-a/faults", { kind: "drop", share: 1 });
  await pay(await checkoutAtProvider(url, format), VICTIM);
  const { subscriptions } = (await control(url, "/state")).slots["provider-a"];
  const id = String(subscriptions[0].id);
  // Polar's customers have at most one that runs.
  if (format === "polar") await cancelAtPolar(context, id);
  await control(url, "/provider-a/faults", { kind: "drop", share: 0 });
  return id;
}

async function checkoutAtProvider(url: string, format: WireFormat): Promise<string> {
  const post = async (path: string, body: object | URLSearchParams) => {
    const response = await sendRequest(url, "POST", `/provider-a${path}`, { key: API_KEY, body });
    expect(response.status, response.text).toBeLessThan(300);
    return JSON.parse(response.text);
  };
  switch (format) {
    case "stripe": {
      const form = new URLSearchParams({
        mode: "subscription",
        success_url: "https://shop.example.com",
        customer_email: VICTIM,
        "line_items[0][price]": "price_pro_monthly",
        "line_items[0][quantity]": "1",
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

async function cancelAtPolar({ sim }: ProviderContext, subscriptionId: string): Promise<void> {
  const path = `/provider-a/v1/subscriptions/${subscriptionId}`;
  expect((await sendRequest(sim.url, "DELETE", path, { key: API_KEY })).status).toBe(200);
}
