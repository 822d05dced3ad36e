import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import shippedPlans from "../../plans.config.ts";
import { definePlans, type Interval } from "../../src/domain/plans/plan.ts";
import type { Slot } from "../../src/domain/slot.ts";
import { createCheckout } from "../../src/operations/billing/create-checkout.ts";
import { providerOf } from "../../src/providers/registry.ts";
import type { RunningServer } from "../../src/server.ts";
import { findPaidTwice } from "../../src/store/subscriptions/unwanted-subscriptions.ts";
import { fixtureDelivery, loadFixture } from "../fixtures/fixture.ts";
import type { FixtureOverrides } from "../fixtures/overrides.ts";
import { eventually } from "../support/eventually.ts";
import { deliverWebhook, sendRequest } from "../support/http.ts";
import { createUser, type TestUser } from "../support/people.ts";
import { startTestServer } from "../support/server.ts";
import { spawnServer } from "../support/server-process.ts";
import { createServiceKey } from "../support/service-keys.ts";
import { STRIPE_KEY, type StripeServer, stripeServer } from "../support/stripe-server.ts";
import { createSubscription } from "../support/subscriptions.ts";
import { testDatabase } from "../support/test-database.ts";
import { GENEROUS_LIMITS, SECRETS } from "../support/variables.ts";
import { createTestContext, session } from "./test-context.ts";

const test = testDatabase(0);
let stripe: StripeServer;
let variables: Record<string, string>;
let servers: [RunningServer, RunningServer];
let person: TestUser;
beforeAll(async () => {
  await providerOf("stripe").loadApi(); // so that the first request does not wait for it
  stripe = await stripeServer();
  variables = {
    ...GENEROUS_LIMITS,
    APP_URL: "https://app.example.com",
    RETURN_ORIGINS: "https://app.example.com,https://shop.example.com",
    PROVIDER_A_API_KEY: STRIPE_KEY,
    PROVIDER_A_API_URL: stripe.url,
  };
  servers = [await startTestServer(test.url, variables), await startTestServer(test.url, variables)];
});
afterAll(async () => {
  for (const server of servers) await server.close();
  await stripe.close();
});
beforeEach(async () => {
  stripe.interfere(null);
  stripe.sessions.length = 0;
  stripe.expired.length = 0;
  stripe.events.length = 0;
  stripe.paid.clear();
  stripe.calls.length = 0;
  stripe.sessionSeconds = 24 * 60 * 60;
  person = await createUser(test, "Somebody New", { isHttps: true });
});

const checkout = (body: object = { planId: "pro" }, server = servers[0], user = person) =>
  sendRequest(server.url, "POST", "/api/checkout", { body, cookie: user.cookie });
const rows = () => test.rows("select url, seats, plan_id from checkout where user_id = $1", [person.id]);

async function subscribed(overrides: FixtureOverrides = {}, kind?: string): Promise<void> {
  const response = await deliverWebhook(servers[0].url, "provider-a", subscription(overrides, { kind }));
  expect(response, JSON.stringify(response.body)).toMatchObject({ status: 200, body: { received: true } });
}

function subscription(
  overrides: FixtureOverrides,
  { slot = "provider-a", kind = "customer.subscription.created" }: { slot?: Slot; kind?: string | undefined },
) {
  return fixtureDelivery("stripe", kind, {
    secret: SECRETS[slot],
    nowSeconds: Math.floor(Date.now() / 1000),
    eventId: `evt_${Math.random()}`,
    subscriptionId: `sub_${person.id}`,
    customerId: `cus_${person.id}`,
    userId: person.id,
    planId: "pro",
    priceId: "price_pro_monthly",
    status: "active",
    ...overrides,
  });
}

describe("a checkout", () => {
  it("is created at the active provider, with the metadata that its events need", async () => {
    const answer = await checkout();
    expect([answer.status, answer.body]).toEqual([200, { url: "https://checkout.example.com/c/1" }]);
    expect(Object.fromEntries(stripe.sessions[0]?.params ?? [])).toMatchObject({
      mode: "subscription",
      "line_items[0][price]": "price_pro_monthly",
      "line_items[0][quantity]": "1",
      "metadata[userId]": person.id,
      "metadata[planId]": "pro",
      "subscription_data[metadata][userId]": person.id,
      customer: expect.stringMatching(/^cus_made_/),
      success_url: "https://app.example.com/billing?checkout=completed",
      cancel_url: "https://app.example.com/billing?checkout=cancelled",
    });
  });

  it("defaults to the plan's minimum number of seats", async () => {
    await checkout({ planId: "team" });
    await checkout({ planId: "team", seats: 12 });
    expect(stripe.sessions.map(({ params }) => params.get("line_items[0][quantity]"))).toEqual(["5", "12"]);
  });

  it("is created once for repeated and simultaneous requests at several processes", async () => {
    const clicks = Array.from({ length: 12 }, (_, n) => checkout({ planId: "pro" }, servers[n % 2]));
    const urls = new Set((await Promise.all(clicks)).map((answer) => answer.body.url));
    expect([...urls]).toEqual(["https://checkout.example.com/c/1"]);
    expect(stripe.sessions).toHaveLength(1);
    expect(stripe.calls).toEqual(["GET /v1/customers", "POST /v1/customers", "POST /v1/checkout/sessions"]);
    expect((await checkout()).body.url).toBe("https://checkout.example.com/c/1");
    expect((await checkout({ planId: "pro", seats: 1 })).body.url).toBe("https://checkout.example.com/c/1");
  });

  it("is replaced for another plan or other seats, and separate for another user", async () => {
    const urls = [];
    for (const body of [
      { planId: "pro" },
      { planId: "pro", seats: 2 },
      { planId: "team" },
      { planId: "pro" },
    ]) {
      urls.push((await checkout(body)).body.url);
    }
    expect(new Set(urls).size).toBe(4);
    expect(await rows()).toHaveLength(1);
    expect((await checkout({ planId: "pro" })).body.url).toBe(urls[3]);
    const otherUser = await createUser(test, "Somebody Else", { isHttps: true });
    expect((await checkout({ planId: "pro" }, servers[0], otherUser)).body.url).not.toBe(urls[3]);
  });

  it("is opened by a service key for another system's user, who returns to an allowed origin alone", async () => {
    const { key } = await createServiceKey(test, { permissions: ["checkout:write"] });
    await test.rows(`update "user" set external_id = $1 where id = $2`, [`shop ${person.id}`, person.id]);
    const open = (returnUrl: string) =>
      sendRequest(servers[0].url, "POST", "/api/v2/checkout", {
        key,
        body: { externalId: `shop ${person.id}`, planId: "pro", returnUrl },
      });
    const refused = await open("https://shop.example.com.evil.example/thanks");
    expect([refused.status, refused.body.reason]).toEqual([400, "return_url_not_allowed"]);
    expect(stripe.sessions).toEqual([]);
    const opened = await open("https://shop.example.com/thanks");
    expect([opened.status, opened.body.url]).toEqual([200, "https://checkout.example.com/c/1"]);
    expect(stripe.sessions.map(({ params }) => params.get("success_url"))).toEqual([
      "https://shop.example.com/thanks",
    ]);
    expect((await rows()).map(({ plan_id }) => plan_id)).toEqual(["pro"]);
  });

  it("is closed before another one replaces it; the replacement is refused while closing fails", async () => {
    await checkout({ planId: "pro" });
    await checkout({ planId: "pro" });
    expect(stripe.expired).toEqual([]);
    await checkout({ planId: "team" });
    expect(stripe.expired).toEqual([stripe.sessions[0]?.id]);
    stripe.interfere(async ({ path }) => (path.endsWith("/expire") ? { status: 400 } : undefined));
    expect((await checkout({ planId: "pro", seats: 2 })).status).toBe(503);
    stripe.interfere(null);
    expect((await checkout({ planId: "pro", seats: 2 })).status).toBe(200);
    expect(stripe.expired).toEqual([stripe.sessions[0]?.id, stripe.sessions[1]?.id]);
  });

  it("is not returned again once it may have been closed", async () => {
    await checkout({ planId: "pro" });
    const [session] = stripe.sessions;
    stripe.interfere(async ({ path }) => {
      if (path.endsWith("/expire")) stripe.expired.push(String(session?.id));
      return { status: 500 };
    });
    expect((await checkout({ planId: "team" })).status).toBe(503);
    stripe.interfere(null);
    const again = await checkout({ planId: "pro" });
    expect(stripe.sessions).toHaveLength(2);
    expect([again.status, again.body.url]).toEqual([200, stripe.sessions[1]?.url]);
  });

  it("returns 409 for another one once it is paid, and fetches the late event", async () => {
    await checkout({ planId: "pro" });
    const [session] = stripe.sessions;
    stripe.paid.set(String(session?.id), "sub_late");
    const { body } = loadFixture("stripe", "customer.subscription.created", {
      userId: person.id,
      planId: "pro",
      priceId: "price_pro_monthly",
      status: "active",
      subscriptionId: "sub_late",
      customerId: "cus_late",
      occurredAt: new Date(),
      eventId: "evt_late",
    });
    stripe.events.push(body as never);
    const answer = await checkout({ planId: "team" });
    expect([answer.status, answer.body.error]).toEqual([
      409,
      "The open checkout has been paid: the subscription starts in a moment",
    ]);
    expect(stripe.sessions).toHaveLength(1);
    await eventually(
      async () => {
        const [row] = await test.rows("select plan_id, status from subscription where user_id = $1", [
          person.id,
        ]);
        return row;
      },
      { plan_id: "pro", status: "active" },
    );
  });

  it("can still be paid after its slot lost its API key; the second subscription then counts as paid twice", async () => {
    await checkout();
    const { PROVIDER_A_API_KEY, PROVIDER_A_API_URL, ...others } = variables;
    const moved = await startTestServer(test.url, {
      ...others,
      PROVIDER_B_ADAPTER: "stripe",
      PROVIDER_B_API_KEY: PROVIDER_A_API_KEY as string,
      PROVIDER_B_API_URL: PROVIDER_A_API_URL as string,
      ACTIVE_PROVIDER: "provider-b",
    });
    onTestFinished(() => moved.close());
    expect((await checkout({ planId: "pro" }, moved)).status).toBe(200);
    const paid = (slot: Slot) => {
      const delivery = subscription({ subscriptionId: `sub_${slot}_${person.id}` }, { slot });
      return deliverWebhook(moved.url, slot, delivery);
    };
    expect((await paid("provider-a")).status).toBe(200);
    expect((await paid("provider-b")).status).toBe(200);
    await findPaidTwice(test.database);
    expect(
      await test.rows(
        "select provider, because from unwanted_subscription where provider_subscription_id like '%' || $1",
        [person.id],
      ),
    ).toEqual([{ provider: "provider-b", because: "paid_twice" }]);
  });

  it("returns 409 for another one once it is paid, although a former subscription has changed meanwhile", async () => {
    await checkout();
    await subscribed({ subscriptionId: `sub_old_${person.id}` }, "customer.subscription.deleted");
    stripe.paid.set(String(stripe.sessions[0]?.id), `sub_${person.id}`);
    expect((await checkout({ planId: "team" })).status).toBe(409);
    expect(stripe.sessions).toHaveLength(1);
    await subscribed();
    await subscribed({}, "customer.subscription.deleted");
    expect((await checkout({ planId: "team" })).status).toBe(200);
  });

  it("is not created for a user who has subscribed while the one before was being closed", async () => {
    await checkout({ planId: "pro" });
    stripe.interfere(async ({ path }) => {
      if (path.endsWith("/expire")) await subscribed();
      return undefined;
    });
    const answer = await checkout({ planId: "team" });
    expect([answer.status, answer.body.error]).toEqual([
      409,
      "The user already has this plan, or a subscription: change or cancel a subscription in the billing portal",
    ]);
    expect(stripe.sessions).toHaveLength(1);
  });

  it("keeps its lease while the provider is slow", async () => {
    let answered = () => {};
    const slow = new Promise<undefined>((resolve) => {
      answered = () => resolve(undefined);
    });
    stripe.interfere(({ path }) => (path === "/v1/checkout/sessions" ? slow : Promise.resolve(undefined)));
    const leaseEnd = async () => {
      const [lease] = await test.rows<{ held_until: Date }>("select held_until from lease where name = $1", [
        `checkout:${person.id}`,
      ]);
      return lease?.held_until.getTime() ?? 0;
    };
    const opening = checkout();
    await eventually(async () => stripe.calls.at(-1), "POST /v1/checkout/sessions");
    const endAtFirst = await leaseEnd();
    expect(endAtFirst).toBeGreaterThan(0);
    // Renewed every four seconds.
    await eventually(async () => (await leaseEnd()) > endAtFirst, true);
    answered();
    expect((await opening).status).toBe(200);
    expect(stripe.sessions).toHaveLength(1);
  });

  /** Takes the lease away while the provider opens the first checkout, as after the process has stopped for long. */
  function loseLease(meanwhile = async () => {}): void {
    let isFirst = true;
    stripe.interfere(async ({ path }) => {
      if (path !== "/v1/checkout/sessions" || !isFirst) return undefined;
      isFirst = false;
      await test.rows("delete from lease where name = $1", [`checkout:${person.id}`]);
      await test.rows("update checkout set lease_until = now() where user_id = $1", [person.id]);
      await meanwhile();
      return undefined;
    });
  }

  it("can be paid although its process had lost the lease, alone or to another one with the same order", async () => {
    loseLease();
    const alone = await checkout();
    expect([alone.status, alone.body.url]).toEqual([200, stripe.sessions[0]?.url]);
    await checkout({ planId: "team" });
    expect(stripe.expired).toEqual([stripe.sessions[0]?.id]);
    let other: Awaited<ReturnType<typeof checkout>> | undefined;
    loseLease(async () => {
      other = await checkout({ planId: "pro", seats: 2 }, servers[1]);
    });
    const both = await checkout({ planId: "pro", seats: 2 });
    expect([both.body.url, other?.body.url]).toEqual(Array(2).fill(stripe.sessions[2]?.url));
    expect(stripe.expired).toEqual(stripe.sessions.slice(0, 2).map(({ id }) => id));
  });

  it("is closed when its process had lost the lease to another one with another order", async () => {
    loseLease(async () => {
      expect((await checkout({ planId: "team" }, servers[1])).status).toBe(200);
    });
    const { body } = await checkout();
    expect(body.url).toBe(stripe.sessions.at(-1)?.url);
    expect(stripe.expired.sort()).toEqual(
      stripe.sessions
        .slice(0, -1)
        .map(({ id }) => id)
        .sort(),
    );
  });

  it("is replaced once it has expired", async () => {
    stripe.sessionSeconds = 10;
    const first = await checkout();
    stripe.sessionSeconds = 3_600;
    const second = await checkout();
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.body.url).not.toBe(first.body.url);
    expect((await checkout()).body.url).toBe(second.body.url);
  });

  it("can be created with the user's API key", async () => {
    const { body } = await sendRequest(servers[0].url, "POST", "/api/api-keys", {
      body: { name: "first" },
      cookie: person.cookie,
    });
    const response = await sendRequest(servers[0].url, "POST", "/api/checkout", {
      body: { planId: "pro" },
      key: body.key,
    });
    expect(response.status).toBe(200);
    expect(stripe.sessions[0]?.params.get("metadata[userId]")).toBe(person.id);
  });

  it.each([
    [{ planId: "gold" }, "planId: no such plan: gold"],
    [{ planId: "free" }, "planId: Free is not for sale"],
    [{ planId: "pro", seats: 6 }, "seats: Pro allows 1 to 5 seats"],
    [{ planId: "team", seats: 4 }, "seats: Team allows 5 to 500 seats"],
    [{ planId: "pro", currency: "USD" }, "currency: Pro has no price per month in USD"],
  ])("returns 400 for %o without calling the provider", async (body, error) => {
    const answer = await checkout(body);
    expect([answer.status, answer.body]).toEqual([400, { error }]);
    expect(stripe.sessions).toEqual([]);
    expect(await rows()).toEqual([]);
  });

  /** The plans as they are shipped, with their first prices alone, sold in one slot. */
  const monthlyPlans = () =>
    definePlans(
      shippedPlans.plans.map((plan) => ({
        ...plan,
        priceIds: { "provider-a": `price_${plan.id}` },
        prices: [],
      })),
    );

  it("is refused for a plan that the slot does not sell, whatever the seats", async () => {
    const { call } = createTestContext({ database: test.database }, { plans: monthlyPlans() });
    const refusedIn = (provider: Slot) =>
      expect(call(createCheckout, session(person.id), { planId: "pro", seats: 6, provider })).rejects;
    await refusedIn("provider-b").toMatchObject({ reason: "plan_not_sold_by" });
    await refusedIn("provider-a").toMatchObject({ reason: "seats_out_of_range" });
  });

  it("is refused for the interval or the currency that no price has", async () => {
    const { call } = createTestContext({ database: test.database }, { plans: monthlyPlans() });
    const refusedFor = (field: string, price: { interval?: Interval; currency?: string }) =>
      expect(call(createCheckout, session(person.id), { planId: "pro", ...price })).rejects.toMatchObject({
        reason: "price_not_offered",
        field,
      });
    await refusedFor("currency", { currency: "USD" });
    await refusedFor("interval", { interval: "year" });
    await refusedFor("interval", { interval: "year", currency: "USD" });
  });

  it("is refused for the interval alone where that is all that was chosen", async () => {
    const yearly = { amount: 20_000, currency: "USD", interval: "year" as const, priceIds: {} };
    const plans = definePlans(monthlyPlans().plans.map((plan) => ({ ...plan, prices: [yearly] })));
    const { call } = createTestContext({ database: test.database }, { plans });
    await expect(
      call(createCheckout, session(person.id), { planId: "pro", interval: "year" }),
    ).rejects.toMatchObject({ reason: "price_not_offered", field: "interval" });
  });

  it("is refused in a slot without a provider", async () => {
    const answer = await checkout({ planId: "pro", provider: "provider-b" });
    expect([answer.status, answer.body]).toEqual([
      503,
      { error: "No payment provider is configured for provider-b" },
    ]);
  });
});

describe("a user with a subscription", () => {
  it.each(["trialing", "active", "past_due", "unpaid", "paused"] as const)(
    "that is %s gets 409 and is referred to the portal",
    async (status) => {
      await subscribed({ status });
      const answer = await checkout({ planId: "team" });
      const error =
        "The user already has this plan, or a subscription: change or cancel a subscription in the billing portal";
      expect([answer.status, answer.body]).toEqual([409, { error }]);
      expect(stripe.sessions).toEqual([]);
    },
  );

  it("is allowed after an incomplete or canceled subscription, for the same customer of the provider", async () => {
    await subscribed({ status: "incomplete" });
    expect((await checkout()).status).toBe(200);
    await subscribed({ status: "canceled" }, "customer.subscription.deleted");
    expect((await checkout({ planId: "team" })).status).toBe(200);
    expect(stripe.sessions.map(({ params }) => params.get("customer"))).toEqual(
      Array(2).fill(`cus_${person.id}`),
    );
  });

  it("is not opened for the person's customer at another slot's provider, which this one does not know", async () => {
    await createSubscription(test, person.id, {
      provider: "provider-b",
      customer_id: "ctm_of_another_slot",
      status: "canceled",
    });
    expect((await checkout()).status).toBe(200);
    expect(stripe.sessions.map(({ params }) => params.get("customer"))).toEqual([
      stripe.customers.at(-1)?.id,
    ]);
  });

  it("is for the person's customer although their latest subscription names none", async () => {
    const ended = { status: "canceled", provider_subscription_id: null };
    const known = { customer_id: `cus_${person.id}`, created_at: "2026-01-01" };
    await createSubscription(test, person.id, { ...ended, ...known });
    const later = { provider_subscription_id: `sub_later_${person.id}`, created_at: "2026-02-01" };
    await createSubscription(test, person.id, { ...ended, ...later });
    expect((await checkout()).status).toBe(200);
    expect(stripe.sessions.map(({ params }) => params.get("customer"))).toEqual([`cus_${person.id}`]);
  });

  it("whose customer was deleted at the provider buys as a new customer", async () => {
    await subscribed({}, "customer.subscription.deleted");
    let refused = 0;
    stripe.interfere(async ({ path }) => {
      if (path !== "/v1/checkout/sessions") return undefined;
      refused += 1;
      if (refused > 1) return undefined;
      const error = { code: "resource_missing", param: "customer", message: "No such customer" };
      return { status: 400, body: { error } };
    });
    expect((await checkout()).status).toBe(200);
    expect(stripe.customers.at(-1)).toMatchObject({ email: person.email, metadata: { userId: person.id } });
    expect(stripe.sessions.map(({ params }) => params.get("customer"))).toEqual([
      stripe.customers.at(-1)?.id,
    ]);
  });

  it("opens a new checkout after a subscription has ended, not the one that was paid", async () => {
    const paid = await checkout();
    await subscribed();
    expect((await checkout()).status).toBe(409);
    await subscribed({}, "customer.subscription.deleted");
    const next = await checkout();
    expect(next.status).toBe(200);
    expect(next.body.url).not.toBe(paid.body.url);
    expect((await checkout()).body.url).toBe(next.body.url);
  });
});

describe("the portal", () => {
  it("is opened by a service key for another system's user, who returns to an allowed origin alone", async () => {
    await subscribed();
    const { key } = await createServiceKey(test, { permissions: ["checkout:write"] });
    await test.rows(`update "user" set external_id = $1 where id = $2`, [`shop ${person.id}`, person.id]);
    const open = (returnUrl: string) =>
      sendRequest(servers[0].url, "POST", "/api/v2/portal", {
        key,
        body: { externalId: `shop ${person.id}`, returnUrl },
      });
    stripe.portals.length = 0;
    const refused = await open("https://shop.example.com.evil.example/account");
    expect([refused.status, refused.body.reason]).toEqual([400, "return_url_not_allowed"]);
    expect(stripe.portals).toEqual([]);
    const opened = await open("https://shop.example.com/account");
    expect([opened.status, opened.body]).toEqual([200, { url: "https://billing.example.com/p/1" }]);
    expect(stripe.portals.map((portal) => Object.fromEntries(portal))).toEqual([
      { customer: `cus_${person.id}`, return_url: "https://shop.example.com/account" },
    ]);
  });

  it("opens for the subscription that is paid, not for what was bought since with a single payment", async () => {
    await subscribed();
    const customer_id = `cus_single_${person.id}`;
    const single = { is_one_time: true, provider_subscription_id: null, customer_id, plan_id: "business" };
    await createSubscription(test, person.id, single);
    stripe.portals.length = 0;
    const opened = await sendRequest(servers[0].url, "POST", "/api/portal", { cookie: person.cookie });
    expect(opened.status).toBe(200);
    expect(stripe.portals.map((portal) => portal.get("customer"))).toEqual([`cus_${person.id}`]);
  });

  it("opens for the named subscription, which must be the user's own", async () => {
    await subscribed();
    await subscribed({ subscriptionId: `sub_2_${person.id}`, customerId: `cus_2_${person.id}` });
    const subscriptions = await test.rows<{ id: string; customer_id: string }>(
      "select id, customer_id from subscription where user_id = $1",
      [person.id],
    );
    expect(subscriptions).toHaveLength(2);
    const portal = (body: object, user = person) =>
      sendRequest(servers[0].url, "POST", "/api/portal", { body, cookie: user.cookie });
    for (const { id, customer_id } of subscriptions) {
      stripe.portals.length = 0;
      expect((await portal({ subscriptionId: id })).status).toBe(200);
      expect(stripe.portals.map((portal) => portal.get("customer"))).toEqual([customer_id]);
    }
    const otherUser = await createUser(test, "Somebody Else", { isHttps: true });
    expect((await portal({ subscriptionId: subscriptions[0]?.id }, otherUser)).status).toBe(404);
    expect((await portal({ subscriptionId: "1" })).status).toBe(400);
  });
});

describe("a provider that fails", () => {
  const unreachable = "The payment provider cannot be reached: try again in a minute";

  it("returns 503 with a sentence for the user, and stores nothing", async () => {
    stripe.interfere(async () => ({ status: 500 }));
    const answer = await checkout();
    expect([answer.status, answer.body]).toEqual([503, { error: unreachable }]);
    expect(await rows()).toEqual([]);
    stripe.interfere(null);
    expect((await checkout()).status).toBe(200);
  });

  it("because of a wrong configuration returns 503, and is logged without the key", async () => {
    const server = await spawnServer(test.url, {
      ...variables,
      PROVIDER_A_API_KEY: "sk_test_wrong_one",
    });
    const response = await sendRequest(server.url, "POST", "/api/checkout", {
      body: { planId: "pro" },
      cookie: person.cookie,
    });
    expect(response.status).toBe(503);
    expect(response.body.error).toMatch(/^The payment provider rejected the request/);
    await eventually(async () => server.lines.some((line) => line.includes("PROVIDER_A_API_KEY")), true);
    expect(server.lines.join("\n")).not.toContain("sk_test_wrong_one");
    await server.end("SIGTERM");
  });

  it("does not block the next request, and answers waiting ones with the same checkout once it recovers", async () => {
    let fail = true;
    stripe.interfere(async ({ path }) => {
      if (!fail || path !== "/v1/checkout/sessions") return;
      fail = false;
      return {
        status: 402,
        body: { error: { message: "Your account cannot do this", code: "account_invalid" } },
      };
    });
    const responses = await Promise.all([checkout(), checkout({ planId: "pro" }, servers[1]), checkout()]);
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 200, 503]);
    expect(stripe.sessions).toHaveLength(1);
  });
});

it("keeps an account deleted when its checkout is created at the same moment", async () => {
  stripe.interfere(async () => {
    await test.rows(`delete from "user" where id = $1`, [person.id]);
    return undefined;
  });
  const answer = await checkout();
  expect([answer.status, answer.body]).toEqual([404, { error: "No such user" }]);
  expect(await rows()).toEqual([]);
  expect(stripe.expired).toEqual(["cs_1"]);
});

it("continues the checkout of a crashed process at the next request, with the same idempotency key", {
  timeout: 60_000,
}, async () => {
  const dying = await spawnServer(test.url, variables);
  let requestCount = 0;
  stripe.interfere(async ({ path }) => {
    if (path !== "/v1/checkout/sessions") return;
    requestCount += 1;
    if (requestCount === 1) await new Promise((resolve) => setTimeout(resolve, 30_000));
  });
  const lost = sendRequest(dying.url, "POST", "/api/checkout", {
    body: { planId: "pro" },
    cookie: person.cookie,
  });
  lost.catch(() => {});
  await eventually(async () => requestCount, 1);
  const [before] = await test.rows<{ idempotency_key: string }>(
    "select idempotency_key from checkout where user_id = $1",
    [person.id],
  );
  await dying.end("SIGKILL");
  await expect(lost).rejects.toThrow();
  const answer = await checkout();
  expect(answer.status).toBe(200);
  expect(stripe.sessions.map(({ key }) => key)).toEqual([before?.idempotency_key]);
});

it("opens the portal for users with a subscription to manage", async () => {
  const portal = () => sendRequest(servers[0].url, "POST", "/api/portal", { cookie: person.cookie });
  const none = await portal();
  expect([none.status, none.body]).toEqual([
    409,
    { error: "There is no subscription to manage yet: choose a plan first" },
  ]);
  await subscribed({ status: "past_due" });
  const answer = await portal();
  expect([answer.status, answer.body]).toEqual([200, { url: "https://billing.example.com/p/1" }]);
  expect(Object.fromEntries(stripe.portals.at(-1) ?? [])).toEqual({
    customer: `cus_${person.id}`,
    return_url: "https://app.example.com/billing",
  });
});

it("deletes an account only after its subscription is canceled at the provider", async () => {
  await subscribed();
  stripe.subscriptions.set(`sub_${person.id}`, { id: `sub_${person.id}`, status: "active" });
  const leave = () =>
    sendRequest(servers[0].url, "POST", "/api/trpc/user.deleteAccount", {
      body: { json: { confirmation: person.email } },
      cookie: person.cookie,
    });
  stripe.interfere(async () => ({ status: 500 }));
  expect((await leave()).status).toBe(503);
  const userRows = () => test.rows(`select from "user" where id = $1`, [person.id]);
  expect(await userRows()).toHaveLength(1);
  stripe.interfere(null);
  stripe.canceled.length = 0;
  expect((await leave()).status).toBe(200);
  expect(await userRows()).toEqual([]);
  expect(stripe.canceled).toEqual([`sub_${person.id}`]);
});

it("undoes what was paid through the open checkout only once the account is deleted", async () => {
  await checkout();
  stripe.paid.set(stripe.sessions.at(-1)?.id as string, `sub_${person.id}`);
  const leave = () =>
    sendRequest(servers[0].url, "POST", "/api/trpc/user.deleteAccount", {
      body: { json: { confirmation: person.email } },
      cookie: person.cookie,
    });
  const undone = () =>
    test.rows("select because from unwanted_subscription where provider_subscription_id = $1", [
      `sub_${person.id}`,
    ]);
  await test.rows(
    `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$`,
  );
  await test.rows(`create trigger refuse before delete on "user" for each row execute function refuse()`);
  expect((await leave()).status).toBe(500);
  expect(await undone()).toEqual([]);
  await test.rows(`drop trigger refuse on "user"`);
  expect((await leave()).status).toBe(200);
  expect(await undone()).toEqual([{ because: "account_deleted" }]);
});
