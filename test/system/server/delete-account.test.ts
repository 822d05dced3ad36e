import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { cancelUnwanted } from "../../../src/billing/cancel-unwanted.ts";
import { createPaymentApi } from "../../../src/providers/create-payment-api.ts";
import { findPaidTwice } from "../../../src/store/subscriptions/unwanted-subscriptions.ts";
import { API_KEY, control, press } from "../../simulator/test-context.ts";
import { createUser, type TestUser } from "../../support/people.ts";
import { type ProviderContext, startProviderContext } from "./provider-context.ts";

const leave = ({ post }: ProviderContext, person: TestUser) =>
  post("/api/trpc/user.deleteAccount", person, { json: { confirmation: person.email } });

it("shows subscriptions of two slots, and cancels both when the account is deleted", async () => {
  const context = await startProviderContext("stripe");
  const person = await createUser(context.test);
  await context.buy(person, { planId: "pro" });
  // The other one was bought at the provider itself: Tollgate sells one subscription to a user.
  const paddle = createPaymentApi({
    slot: "provider-b",
    format: "paddle",
    apiKey: API_KEY,
    apiUrl: `${context.sim.url}/provider-b`,
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
    successUrl: `${context.server.url}/billing`,
    cancelUrl: `${context.server.url}/billing`,
    trialDays: null,
  });
  await press(url, { email: person.email, card: "4242 4242 4242 4242", action: "pay" });
  await context.waitUntilEqual(person);
  expect(await context.atApi(person)).toMatchObject([{ status: "active" }, { status: "active" }]);
  expect((await context.post("/api/portal", person)).status).toBe(200);
  expect((await context.post("/api/checkout", person, { planId: "team" })).status).toBe(409);

  const answer = await leave(context, person);
  expect(answer.status, answer.text).toBe(200);
  expect(context.atProvider(person)).toMatchObject([{ status: "canceled" }, { status: "canceled" }]);
});

it("refuses to delete an account whose subscription has no provider id", async () => {
  // Or the server would find the id again.
  const context = await startProviderContext("lemon-squeezy", { variables: { SELF_HEAL: "off" } });
  const person = await createUser(context.test);
  await context.buy(person, { planId: "pro" });
  await context.waitUntilEqual(person);
  // As if only the order had arrived, which does not name its subscription.
  await context.test.rows(`
    update subscription set provider_subscription_id = null, customer_id = (
      select payload->'data'->'attributes'->>'customer_id' from webhook_delivery where event_type = 'order_created')`);
  const refused = await leave(context, person);
  const error = "The subscription could not be canceled at the payment provider: cancel it there first";
  expect([refused.status, refused.text]).toEqual([503, expect.stringContaining(error)]);

  await context.test.rows(`update "user" set email_verified = true`);
  await context.press(person, "cancel_at_period_end");
  await context.waitUntilEqual(person);
  const deletion = await leave(context, person);
  expect(deletion.status, deletion.text).toBe(200);
  expect(context.atProvider(person)).toMatchObject([{ cancelAtPeriodEnd: true }]);
});

it("leaves alone what somebody else has paid with the address of the deleted account", async () => {
  const context = await startProviderContext("lemon-squeezy");
  const [person, payer] = [await createUser(context.test), await createUser(context.test)];
  await context.post("/api/checkout", person, { planId: "pro" });
  await context.sim.settle();
  const { url } = (await context.post("/api/checkout", payer, { planId: "pro" })).body;
  await press(url, { email: person.email, card: "4242 4242 4242 4242", action: "pay" });
  await context.waitUntilEqual(payer);

  expect((await leave(context, person)).status).toBe(200);
  expect(await context.test.rows("select * from unwanted_subscription")).toEqual([]);
});

it("leaves it alone also before its event has come, unless the address is confirmed", async () => {
  const context = await startProviderContext("lemon-squeezy");
  const [stranger, owner, payer] = await Promise.all([1, 2, 3].map(() => createUser(context.test)));
  if (!stranger || !owner || !payer) throw new Error("nobody signed up");
  await context.test.rows(`update "user" set email_verified = true where id = $1`, [owner.id]);
  for (const person of [stranger, owner]) await context.post("/api/checkout", person, { planId: "pro" });
  await context.sim.settle();
  await control(context.sim.url, "/provider-a/faults", { kind: "drop", next: 100 });
  const { url } = (await context.post("/api/checkout", payer, { planId: "pro" })).body;
  await press(url, { email: stranger.email, card: "4242 4242 4242 4242", action: "pay" });
  expect((await leave(context, stranger)).status).toBe(200);
  expect(await context.test.rows("select * from unwanted_subscription")).toEqual([]);

  const own = (await context.post("/api/checkout", owner, { planId: "pro" })).body;
  await press(own.url, { email: owner.email, card: "4242 4242 4242 4242", action: "pay" });
  expect((await leave(context, owner)).status).toBe(200);
  expect(await context.test.rows("select because from unwanted_subscription")).toEqual([
    { because: "account_deleted" },
  ]);
});

it("cancels again what is resumed at the provider after the deletion", async () => {
  const context = await startProviderContext("lemon-squeezy");
  const person = await createUser(context.test);
  await context.buy(person, { planId: "pro" });
  await context.waitUntilEqual(person);
  const portal = (await context.post("/api/portal", person)).body.url;
  expect((await leave(context, person)).status).toBe(200);
  expect(context.atProvider(person)).toMatchObject([{ status: "active", cancelAtPeriodEnd: true }]);
  await context.sim.settle();
  expect(await context.test.rows("select * from unwanted_subscription")).toEqual([]);

  const subscription = String(context.atProvider(person)[0]?.providerSubscriptionId);
  await press(portal, { subscription, action: "resume" });
  await context.sim.settle();
  expect(context.atProvider(person)).toMatchObject([{ cancelAtPeriodEnd: false }]);
  const api = createPaymentApi({
    slot: "provider-a",
    format: "lemon-squeezy",
    apiKey: API_KEY,
    apiUrl: `${context.sim.url}/provider-a`,
  });
  const payments = { "provider-a": api, "provider-b": null, "provider-c": null };
  await cancelUnwanted({ database: context.test.database, payments, log: console }, () => false);
  expect(context.atProvider(person)).toMatchObject([{ cancelAtPeriodEnd: true }]);
  expect(await context.test.rows("select because, refunded from unwanted_subscription")).toEqual([
    { because: "resumed", refunded: null },
  ]);
});

it("sells to whoever signs up again after a checkout of the deleted account was paid", async () => {
  const context = await startProviderContext("lemon-squeezy");
  const person = await createUser(context.test);
  const old = (await context.post("/api/checkout", person, { planId: "pro" })).body;
  expect((await leave(context, person)).status).toBe(200);
  const again = await createUser(context.test);
  await context.test.rows(`update "user" set email = $1`, [person.email]);
  const pro = (await context.post("/api/checkout", again, { planId: "pro" })).body;

  await press(old.url, { email: person.email, card: "4242 4242 4242 4242", action: "pay" });
  await context.sim.settle();
  expect(await context.test.rows("select because from unwanted_subscription")).toEqual([
    { because: "account_deleted" },
  ]);
  const other = await context.post("/api/checkout", again, { planId: "team" });
  expect([other.status, other.text]).toEqual([200, expect.stringContaining("/checkout/")]);

  for (const { url } of [pro, other.body]) {
    await press(url, { email: again.email, card: "4242 4242 4242 4242", action: "pay" });
    await context.sim.settle();
  }
  await findPaidTwice(context.test.database);
  expect(await context.test.rows("select because from unwanted_subscription order by because")).toEqual([
    { because: "account_deleted" },
    { because: "paid_twice" },
  ]);
});

it("does not use a Paddle customer for an unconfirmed email address", async () => {
  const context = await startProviderContext("paddle");
  const person = await createUser(context.test);
  // The stranger was a customer before the account existed.
  const stranger = { email: person.email, action: "pay", card: "4242 4242 4242 4242" };
  const otherUser = await createUser(context.test);
  const opened = await context.post("/api/checkout", otherUser, { planId: "pro" });
  await press(opened.body.url, { ...stranger, email: otherUser.email });
  await context.waitUntilEqual(otherUser);
  await context.test.rows(`update "user" set email = 'moved@example.com' where id = $1`, [otherUser.id]);
  await context.test.rows(`update "user" set email = $2 where id = $1`, [person.id, otherUser.email]);

  const refused = await context.post("/api/checkout", person, { planId: "pro" });
  expect([refused.status, refused.body.error]).toEqual([403, expect.stringMatching(/email address/)]);
  await context.test.rows(`update "user" set email_verified = true where id = $1`, [person.id]);
  expect((await context.post("/api/checkout", person, { planId: "pro" })).status).toBe(200);
  // New users can buy, and can reopen their checkout.
  const somebody = await createUser(context.test);
  for (const planId of ["pro", "team", "pro"]) {
    expect((await context.post("/api/checkout", somebody, { planId })).status).toBe(200);
  }
});
