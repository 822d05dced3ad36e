import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { createPaymentApi } from "../../../src/providers/create-payment-api.ts";
import { API_KEY, press } from "../../simulator/test-context.ts";
import { createUser, type TestUser } from "../../support/people.ts";
import { openShop, type Shop } from "./shop.ts";

const leave = ({ post }: Shop, person: TestUser) =>
  post("/api/trpc/user.deleteAccount", person, { json: { confirmation: person.email } });

it("shows subscriptions of two slots, and cancels both when the account is deleted", async () => {
  const shop = await openShop("stripe");
  const person = await createUser(shop.test);
  await shop.buy(person, { planId: "pro" });
  // The other one was bought at the provider itself: we sell nobody a second subscription.
  const paddle = createPaymentApi({
    slot: "provider-b",
    format: "paddle",
    apiKey: API_KEY,
    apiUrl: `${shop.sim.url}/provider-b`,
  });
  const { url } = await paddle.createCheckout({
    idempotencyKey: randomUUID(),
    priceId: "pri_pro_monthly",
    seats: 1,
    userId: person.id,
    planId: "pro",
    email: person.email,
    isEmailConfirmed: true,
    customerId: null,
    successUrl: `${shop.server.url}/billing`,
    cancelUrl: `${shop.server.url}/billing`,
    trialDays: null,
  });
  await press(url, { email: person.email, card: "4242 4242 4242 4242", action: "pay" });
  await shop.agree(person);
  expect(await shop.known(person)).toMatchObject([{ status: "active" }, { status: "active" }]);
  expect((await shop.post("/api/portal", person)).status).toBe(200);
  expect((await shop.post("/api/checkout", person, { planId: "team" })).status).toBe(409);

  const answer = await leave(shop, person);
  expect(answer.status, answer.text).toBe(200);
  expect(shop.truth(person)).toMatchObject([{ status: "canceled" }, { status: "canceled" }]);
});

it("refuses to delete an account whose subscription has no provider id", async () => {
  const shop = await openShop("lemon-squeezy");
  const person = await createUser(shop.test);
  await shop.buy(person, { planId: "pro" });
  await shop.agree(person);
  // As if only the order had arrived, which does not name its subscription.
  await shop.test.rows(`
    update subscription set provider_subscription_id = null, customer_id = (
      select payload->'data'->'attributes'->>'customer_id' from webhook_delivery where event_type = 'order_created')`);
  const refused = await leave(shop, person);
  const error = "The subscription could not be canceled at the payment provider: cancel it there first";
  expect([refused.status, refused.text]).toEqual([503, expect.stringContaining(error)]);

  await shop.test.rows(`update "user" set email_verified = true`);
  await shop.press(person, "cancel_at_period_end");
  await shop.agree(person);
  const left = await leave(shop, person);
  expect(left.status, left.text).toBe(200);
  expect(shop.truth(person)).toMatchObject([{ cancelAtPeriodEnd: true }]);
});

it("does not use a Paddle customer for an unconfirmed email address", async () => {
  const shop = await openShop("paddle");
  const person = await createUser(shop.test);
  // The stranger was a customer before the account existed.
  const stranger = { email: person.email, action: "pay", card: "4242 4242 4242 4242" };
  const otherUser = await createUser(shop.test);
  const opened = await shop.post("/api/checkout", otherUser, { planId: "pro" });
  await press(opened.body.url, { ...stranger, email: otherUser.email });
  await shop.agree(otherUser);
  await shop.test.rows(`update "user" set email = 'moved@example.com' where id = $1`, [otherUser.id]);
  await shop.test.rows(`update "user" set email = $2 where id = $1`, [person.id, otherUser.email]);

  const refused = await shop.post("/api/checkout", person, { planId: "pro" });
  expect([refused.status, refused.body.error]).toEqual([403, expect.stringMatching(/email address/)]);
  await shop.test.rows(`update "user" set email_verified = true where id = $1`, [person.id]);
  expect((await shop.post("/api/checkout", person, { planId: "pro" })).status).toBe(200);
  // New users can buy, and can reopen their checkout.
  const somebody = await createUser(shop.test);
  for (const planId of ["pro", "team", "pro"]) {
    expect((await shop.post("/api/checkout", somebody, { planId })).status).toBe(200);
  }
});
