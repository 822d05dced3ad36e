import { describe, expect, it } from "vitest";
import { type Fixture, loadFixture, signedDelivery } from "../../../fixtures/fixture.ts";
import { deliverWebhook } from "../../../support/http.ts";
import { createUser } from "../../../support/people.ts";
import { SECRETS } from "../../../support/variables.ts";
import { securityContext } from "./security-context.ts";
import { type Answer, send } from "./send.ts";

const context = securityContext();

describe("API6:2023 Unrestricted Access to Sensitive Business Flows", () => {
  const admitted = (answers: readonly Answer[]) => answers.filter(({ status }) => status !== 429).length;
  const atOnce = (count: number, ask: (n: number) => Promise<Answer>) =>
    Promise.all(Array.from({ length: count }, (_, n) => ask(n)));
  const subscriptionsOf = (id: string) =>
    context.test.rows("select plan_id, status from subscription where user_id = $1", [id]);

  it("limits sign-ups to five a minute per address", async () => {
    const url = await context.serverWith({});
    const signUp = (n: number) =>
      send(url, `POST /api/${["", "v1/", "v2/"][n % 3]}auth/sign-up/email`, {
        headers: { "x-forwarded-for": `203.0.113.${n}`, "user-agent": `agent ${n}` },
        body: { name: `Bot ${n}`, email: `bot.${n}@example.com`, password: "a password of some length" },
      });
    expect(admitted(await atOnce(20, signUp))).toBe(5);
    expect((await signUp(21)).status).toBe(429);
    const bots = await context.test.rows(`select id from "user" where email like 'bot.%'`);
    expect(bots).toHaveLength(5);
  });

  it("limits checkouts and portals to five a minute per user on all surfaces", async () => {
    const url = await context.serverWith({});
    const { cookie, key } = context.attacker;
    const answers = await atOnce(30, (n) =>
      send(url, n % 2 ? "POST /api/checkout" : "POST /api/v2/portal", {
        // The portal takes no key of a user.
        ...(n % 2 && n % 3 === 0 ? { key } : { cookie }),
        headers: { "x-forwarded-for": `203.0.113.${n}` },
        body: n % 2 ? { planId: n % 5 ? "pro" : "no plan" } : {},
      }),
    );
    expect(admitted(answers)).toBe(5);
    const othersCheckout = await send(url, "POST /api/checkout", {
      cookie: context.victim.cookie,
      body: { planId: "pro" },
    });
    expect(othersCheckout.status).not.toBe(429);
  });

  it("limits key creation to ten a minute", async () => {
    const url = await context.serverWith({});
    const { id, cookie } = await createUser(context.test);
    const answers = await atOnce(30, (n) =>
      send(url, "POST /api/api-keys", { cookie, body: { name: `${n}` } }),
    );
    expect(admitted(answers)).toBe(10);
    expect(await context.test.rows("select id from api_key where user_id = $1", [id])).toHaveLength(10);
  });

  it("sells only existing plans at their own price and seats", async () => {
    const { cookie } = await createUser(context.test);
    const orders: unknown[] = [
      { planId: "free" },
      { planId: "enterprise" },
      { planId: "__proto__" },
      { planId: "constructor" },
      { planId: " pro" },
      { planId: "PRO" },
      { planId: ["pro"] },
      { planId: { $ne: "" } },
      { planId: "pro", seats: 0 },
      { planId: "pro", seats: -1 },
      { planId: "pro", seats: 6 },
      { planId: "pro", seats: 1.5 },
      { planId: "pro", seats: 1e308 },
      { planId: "pro", seats: "1" },
      { planId: "pro", seats: null },
      { planId: "team", seats: 4 },
      { planId: "team", seats: 501 },
      { planId: "pro", provider: "stripe" },
      { planId: "pro", provider: "provider-d" },
      { planId: "pro", price: 0 },
      { planId: "pro", coupon: "FREE" },
      { planId: "pro", quantity: 1 },
    ];
    for (const body of orders) {
      const response = await send(context.url, "POST /api/checkout", { cookie, body });
      expect([body, response.status]).toEqual([body, 400]);
    }
    expect(
      (await send(context.url, "POST /api/checkout", { cookie, body: { planId: "pro", seats: 5 } })).status,
    ).not.toBe(400);
  });

  const paid = (userId: string, eventId: string, change: (event: Fixture["body"]) => void = () => {}) => {
    const { body } = loadFixture("stripe", "checkout.session.completed", {
      userId,
      planId: "team",
      eventId,
      subscriptionId: `sub-of-${eventId}`,
      customerId: `cus-of-${eventId}`,
    });
    change(body);
    return body;
  };
  const sent = (
    body: unknown,
    { slot = "provider-a", secret = SECRETS["provider-a"] as string, ageSeconds = 0 } = {},
  ) =>
    deliverWebhook(
      context.url,
      slot,
      signedDelivery("stripe", body, { secret, nowSeconds: Math.floor(Date.now() / 1000) - ageSeconds }),
    );

  it("does not activate a plan by unsigned claims", async () => {
    const { id, cookie } = await createUser(context.test);
    const event = paid(id, "flow-forged");
    const unsigned = { rawBody: Buffer.from(JSON.stringify(event)), headers: { cookie } };
    const signed = signedDelivery("stripe", event, {
      secret: SECRETS["provider-a"],
      nowSeconds: Math.floor(Date.now() / 1000),
    });
    const forgeries = [
      deliverWebhook(context.url, "provider-a", unsigned),
      deliverWebhook(context.url, "provider-a", { ...unsigned, headers: { "stripe-signature": "t=1,v1=" } }),
      deliverWebhook(context.url, "provider-a", {
        ...signed,
        rawBody: Buffer.from(JSON.stringify({ ...event, more: 1 })),
      }),
      deliverWebhook(context.url, "provider-b", signed),
      sent(event, { secret: SECRETS["provider-b"] }),
      sent(event, { secret: "whsec_" }),
      sent(event, { ageSeconds: 301 }),
      // Well beyond the tolerance: the clock advances while the request travels.
      sent(event, { ageSeconds: -310 }),
      sent(event, { slot: "provider-c" }),
    ];
    for (const answer of await Promise.all(forgeries))
      expect(answer).toMatchObject({ status: 400, body: { error: "Invalid signature" } });
    expect(await subscriptionsOf(id)).toEqual([]);
    expect(await context.test.rows("select id from webhook_delivery where event_id = 'flow-forged'")).toEqual(
      [],
    );
  });

  it("activates a plan once, for a paid checkout only", async () => {
    const { id } = await createUser(context.test);
    const unpaid = paid(id, "flow-unpaid", (event) => {
      (event.data as { object: { payment_status: string } }).object.payment_status = "unpaid";
    });
    expect((await sent(unpaid)).body).toEqual({ received: true, ignored: true });
    expect(await subscriptionsOf(id)).toEqual([]);
    const event = paid(id, "flow-paid");
    const responses = await Promise.all(Array.from({ length: 10 }, () => sent(event)));
    expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(await subscriptionsOf(id)).toEqual([{ plan_id: "team", status: "active" }]);
    const attempts =
      "select from webhook_attempts a join webhook_delivery d on d.id = a.delivery_id where event_id = $1";
    expect(await context.test.rows(attempts, ["flow-paid"])).toHaveLength(1);
  });

  it("does not apply an event again without force", async () => {
    const { id, cookie } = await createUser(context.test);
    await sent(paid(id, "flow-replayed"));
    const [row] = await context.test.rows<{ id: string }>(
      "select id::text from webhook_delivery where event_id = 'flow-replayed'",
    );
    const replay = `POST /api/webhook-deliveries/${row?.id}/replay`;
    await context.test.rows("update subscription set status = 'canceled' where user_id = $1", [id]);
    for (const body of [{}, { force: true }]) {
      expect((await send(context.url, replay, { cookie, body })).status).toBe(403);
      expect((await send(context.url, replay, { key: context.admin.key, body })).status).toBe(403);
    }
    for (const force of ["true", 1, null, [true]])
      expect(
        (await send(context.url, replay, { cookie: context.admin.cookie, body: { force } })).status,
      ).toBe(400);
    expect((await send(context.url, `${replay}?force=true`, { cookie: context.admin.cookie })).status).toBe(
      409,
    );
    expect(await subscriptionsOf(id)).toEqual([{ plan_id: "team", status: "canceled" }]);
  });
});
