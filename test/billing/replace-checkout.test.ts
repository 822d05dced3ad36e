import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import plans from "../../plans.config.ts";
import { openCheckout } from "../../src/billing/open-checkout.ts";
import { replaceCheckout } from "../../src/billing/replace-checkout.ts";
import type { CheckoutEnd, PaymentApi } from "../../src/domain/providers/payment-api.ts";
import { type PaymentApiFailure, PaymentApiProblem } from "../../src/domain/providers/payment-api-problem.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import type { StoredCheckout } from "../../src/store/subscriptions/checkouts.ts";
import { findPaidTwice, insertUnwanted } from "../../src/store/subscriptions/unwanted-subscriptions.ts";
import { control, press } from "../simulator/test-context.ts";
import { cleanedUp } from "../support/cleanup.ts";
import { eventually } from "../support/eventually.ts";
import { startHttpServer } from "../support/http.ts";
import { createUser } from "../support/people.ts";
import { startTestRuntime } from "../support/runtime.ts";
import { createSubscription } from "../support/subscriptions.ts";
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

describe("replacing a checkout", () => {
  const opened = { id: "txn_2", url, expiresAt: null };
  let runtime: Runtime;
  let calls: string[];

  beforeAll(async () => {
    runtime = await startTestRuntime(test.url, {
      PROVIDER_B_API_KEY: "pdl_sdbx_apikey_of_nobody",
      PROVIDER_B_API_URL: "http://127.0.0.1:9",
    });
  });
  afterAll(() => runtime.close());
  beforeEach(async () => {
    calls = [];
    for (const table of ["subscription", "replaced_checkout", "unwanted_subscription"])
      await test.rows(`delete from ${table}`);
  });

  /** At a provider that updates a checkout, lists no events, and ends the checkout like this. */
  function replace(
    end: CheckoutEnd,
    updateFailure: PaymentApiFailure | null = "rejected",
    previous: Partial<StoredCheckout> = {},
  ): ReturnType<typeof replaceCheckout> {
    const api: PaymentApi = {
      ...(runtime.payments["provider-b"] as PaymentApi),
      listEvents: null,
      updateCheckout: async (id) => {
        calls.push(`update ${id}`);
        if (updateFailure !== null) throw new PaymentApiProblem(updateFailure, "failed");
        return opened;
      },
      closeCheckout: async ({ id, userId, email }) => {
        calls.push(`close ${id} of ${userId} ${email}`);
        return end;
      },
      fetchSubscription: async (id) => {
        calls.push(`fetch ${id}`);
        return null;
      },
    };
    const order = {
      userId: "user_0",
      provider: "provider-b",
      planId: "pro",
      priceId: "pri_pro_monthly",
      seats: 1,
      returnUrl: null,
      email: "user_0@example.com",
      isEmailConfirmed: true,
    } as const;
    const deps = { ...runtime, plans, payments: { ...runtime.payments, "provider-b": api } };
    const stored = { provider: "provider-b", id: "txn_1", isUsed: false, ...previous } as const;
    return replaceCheckout(deps, { api, order }, stored);
  }

  const close = "close txn_1 of user_0 user_0@example.com";
  const remembered = () => test.rows("select provider, session_id as id, user_id from replaced_checkout");
  const REMEMBERED = [{ provider: "provider-b", id: "txn_1", user_id: "user_0" }];

  it("leaves one open that the provider has updated", async () => {
    expect(await replace({ status: "closed" }, null)).toEqual(opened);
    expect(calls).toEqual(["update txn_1"]);
  });

  it("closes one whose update is rejected, or that is unknown", async () => {
    for (const failure of ["rejected", "missing"] as const)
      expect(await replace({ status: "closed" }, failure)).toBeNull();
    expect(calls).toEqual(["update txn_1", close, "update txn_1", close]);
    expect(await remembered()).toEqual([]);
  });

  it("refuses the order while nobody knows whether one was updated", async () => {
    const refused = replace({ status: "closed" }, "unreachable");
    await expect(refused).rejects.toMatchObject({ reason: "provider_unreachable" });
    expect(calls).toEqual(["update txn_1"]);
  });

  it("remembers one that can still be paid, and neither updates nor closes one of another slot", async () => {
    expect(await replace({ status: "open" })).toBeNull();
    expect(await remembered()).toEqual(REMEMBERED);
    calls = [];
    expect(await replace({ status: "closed" }, null, { provider: "provider-c", id: "co_1" })).toBeNull();
    expect(calls).toEqual([]);
    expect(await remembered()).toContainEqual({ provider: "provider-c", id: "co_1", user_id: "user_0" });
  });

  it("refuses the order once one is paid, and looks up the subscription that no event has reported", async () => {
    const refused = replace({ status: "paid", providerSubscriptionId: "sub_1" });
    await expect(refused).rejects.toMatchObject({ code: "conflict", reason: "checkout_paid" });
    await eventually(async () => calls, ["update txn_1", close, "fetch sub_1"]);
    await expect(replace({ status: "paid", providerSubscriptionId: null })).rejects.toMatchObject({
      reason: "checkout_paid",
    });
    expect(calls).toHaveLength(5);
  });

  it("remembers a paid one whose subscription is known: it may be somebody else's", async () => {
    const columns = { provider: "provider-b", provider_subscription_id: "sub_1" };
    const id = await createSubscription(test, null, columns);
    expect(await replace({ status: "paid", providerSubscriptionId: "sub_1" })).toBeNull();
    expect(await remembered()).toEqual(REMEMBERED);
    await test.rows("update subscription set status = 'incomplete' where id = $1", [id]);
    const refused = replace({ status: "paid", providerSubscriptionId: "sub_1" });
    await expect(refused).rejects.toMatchObject({ reason: "checkout_paid" });
  });

  it("remembers a paid one whose subscription is being canceled, or that is used though nobody says for what", async () => {
    await insertUnwanted(test.database, [{ provider: "provider-b", providerSubscriptionId: "sub_1" }]);
    expect(await replace({ status: "paid", providerSubscriptionId: "sub_1" })).toBeNull();
    expect(await remembered()).toEqual(REMEMBERED);
    const used = { isUsed: true };
    expect(await replace({ status: "paid", providerSubscriptionId: null }, "rejected", used)).toBeNull();
  });
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
