import { text } from "node:stream/consumers";
import { expect, it, onTestFinished, vi } from "vitest";
import plans from "../../plans.config.ts";
import { openCheckout } from "../../src/billing/open-checkout.ts";
import type { PaymentApi } from "../../src/domain/payment-api.ts";
import { findPaidTwice } from "../../src/store/unwanted-subscriptions.ts";
import { control, press } from "../simulator/test-context.ts";
import { cleanedUp } from "../support/cleanup.ts";
import { startHttpServer } from "../support/http.ts";
import { createUser } from "../support/people.ts";
import { startTestRuntime } from "../support/runtime.ts";
import { testDatabase } from "../support/test-database.ts";
import { startProviderContext } from "../system/server/provider-context.ts";

const test = testDatabase(1);
const url = "https://app.example.com/pay?_ptxn=txn_1";

it("refuses every order while an update may have changed the open checkout, then updates that one", async () => {
  let isDown = false;
  const updates: string[] = [];
  const paddle = await startHttpServer(async (request, response) => {
    const { method } = request;
    if (method === "PATCH") updates.push(await text(request));
    const data = method === "GET" ? [] : { id: "txn_1", checkout: { url } };
    response.writeHead(isDown ? 500 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify({ data }));
  });
  cleanedUp(paddle.close);
  const runtime = await startTestRuntime(test.url, {
    PROVIDER_B_API_KEY: "pdl_sdbx_apikey_of_nobody",
    PROVIDER_B_API_URL: paddle.url,
  });
  cleanedUp(runtime.close);
  const order = (seats: number) =>
    openCheckout({ ...runtime, plans }, runtime.payments["provider-b"] as PaymentApi, {
      userId: "user_0",
      provider: "provider-b",
      planId: "pro",
      priceId: "pri_pro_monthly",
      seats,
      returnUrl: null,
      email: "user_0@example.com",
      isEmailConfirmed: true,
    });
  expect(await order(1)).toBe(url);

  isDown = true;
  await expect(order(2)).rejects.toMatchObject({ reason: "provider_unreachable" });
  // The answer may have been lost, and the open page sell two seats.
  await expect(order(1)).rejects.toMatchObject({ reason: "provider_unreachable" });
  isDown = false;
  expect(await order(1)).toBe(url);
  expect(JSON.parse(updates.at(-1) ?? "").items).toEqual([{ price_id: "pri_pro_monthly", quantity: 1 }]);
  expect(await test.rows("select url, seats from checkout")).toEqual([{ url, seats: 1 }]);
});

it("finds the second of two payments, though the first was made with another address and is reported late", async () => {
  const context = await startProviderContext("lemon-squeezy");
  const { sim, post } = context;
  const person = await createUser(context.test);
  const paying = { card: "4242 4242 4242 4242", action: "pay" };
  const first = (await post("/api/checkout", person, { planId: "pro" })).body;
  await control(sim.url, "/provider-a/faults", { kind: "drop", share: 1 });
  await press(first.url, { ...paying, email: "billing@example.com" });
  await control(sim.url, "/provider-a/faults", { kind: "drop", share: 0 });

  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 31 * 60_000 });
  onTestFinished(() => void vi.useRealTimers());
  const second = (await post("/api/checkout", person, { planId: "team" })).body;
  await press(second.url, { ...paying, email: person.email });
  await control(sim.url, "/provider-a/redeliver", {});
  await context.waitUntilEqual(person);
  await findPaidTwice(context.test.database);
  expect(await context.test.rows("select because from unwanted_subscription")).toEqual([
    { because: "paid_twice" },
  ]);
});
