import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { closeOnDeletion } from "../../src/billing/close-on-deletion.ts";
import type { PaymentApi } from "../../src/domain/providers/payment-api.ts";
import { PaymentApiProblem } from "../../src/domain/providers/payment-api-problem.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { acquireLease } from "../../src/store/leases.ts";
import { checkoutLease } from "../../src/store/subscriptions/checkouts.ts";
import type { UnwantedSubscription } from "../../src/store/subscriptions/unwanted-subscriptions.ts";
import { startTestRuntime } from "../support/runtime.ts";
import { createSubscription } from "../support/subscriptions.ts";
import { testDatabase } from "../support/test-database.ts";

const test = testDatabase(2);
let runtime: Runtime;
beforeAll(async () => {
  runtime = await startTestRuntime(test.url, {
    PROVIDER_B_API_KEY: "pdl_sdbx_apikey_of_nobody",
    PROVIDER_B_API_URL: "http://127.0.0.1:9",
  });
});
afterAll(() => runtime.close());

beforeEach(async () => {
  for (const table of ["subscription", "checkout", "lease"]) await test.rows(`delete from ${table}`);
  await test.rows(`update "user" set email_verified = false`);
  await test.rows(
    `insert into checkout (user_id, provider, plan_id, price_id, seats, idempotency_key, session_id, url, opened_at)
     values ('user_0', 'provider-b', 'pro', 'pri_pro', 1, gen_random_uuid(), 'txn_1', 'https://example.com', now())`,
  );
});

/** Closes the user's checkout at a provider that ends it like this. */
async function close(
  closeCheckout: PaymentApi["closeCheckout"],
  { listsEvents = true, userId = "user_0" } = {},
): Promise<UnwantedSubscription[]> {
  const api: PaymentApi = {
    ...(runtime.payments["provider-b"] as PaymentApi),
    listEvents: listsEvents ? async function* () {} : null,
    closeCheckout,
  };
  const payments = { ...runtime.payments, "provider-b": api };
  const held = await closeOnDeletion({ ...runtime, payments })(userId);
  try {
    return await held.close();
  } finally {
    await held.release();
  }
}

/** As another request does. */
const acquire = () => acquireLease(test.database, checkoutLease("user_0"), { seconds: 5 });

const PAID = { status: "paid", providerSubscriptionId: "sub_1" } as const;
const UNWANTED = [{ provider: "provider-b", providerSubscriptionId: "sub_1" }];

describe("the checkout of an account that is about to be deleted", () => {
  it("is closed at its provider, and its address given to nobody any more", async () => {
    const closed: unknown[] = [];
    const unwanted = await close(async (checkout) => {
      closed.push(checkout);
      return { status: "closed" };
    });
    expect(unwanted).toEqual([]);
    expect(closed).toMatchObject([{ id: "txn_1", userId: "user_0", email: "user_0@example.com" }]);
    expect(await test.rows("select from checkout where expires_at <= now()")).toHaveLength(1);
  });

  it("keeps the account, and lets others go on, while its provider cannot close it", async () => {
    const refused = close(async () => {
      throw new PaymentApiProblem("unreachable", "failed");
    });
    await expect(refused).rejects.toMatchObject({ code: "unavailable", reason: "checkout_not_closed" });
    expect(await acquire()).not.toBeNull();
  });

  it("names what was paid through it, unless an event has reported that", async () => {
    expect(await close(async () => PAID)).toEqual(UNWANTED);
    const columns = { provider: "provider-b", provider_subscription_id: "sub_1", status: "incomplete" };
    await createSubscription(test, "user_0", columns);
    expect(await close(async () => PAID)).toEqual(UNWANTED);
    await test.rows("update subscription set status = 'active'");
    expect(await close(async () => PAID)).toEqual([]);
  });

  it("names nothing where nobody says what was paid, or it may be somebody else's", async () => {
    expect(await close(async () => ({ status: "paid", providerSubscriptionId: null }))).toEqual([]);
    expect(await close(async () => PAID, { listsEvents: false })).toEqual([]);
    await test.rows(`update "user" set email_verified = true`);
    expect(await close(async () => PAID, { listsEvents: false })).toEqual(UNWANTED);
  });

  it("is that of its own user alone", async () => {
    const unexpected = async () => {
      throw new Error("there is none to close");
    };
    for (const userId of ["user_1", "user_of_another_product"])
      expect(await close(unexpected, { userId })).toEqual([]);
  });

  it("is waited for while a server of an earlier release is opening it", async () => {
    await test.rows(
      "update checkout set lease_key = gen_random_uuid(), lease_until = clock_timestamp() + interval '1 second'",
    );
    const held = await closeOnDeletion(runtime)("user_0");
    expect(await test.rows("select lease_until <= clock_timestamp() as over from checkout")).toEqual([
      { over: true },
    ]);
    await held.release();
  });

  it("cannot be opened until it is released", async () => {
    const held = await closeOnDeletion(runtime)("user_0");
    expect(await acquire()).toBeNull();
    await held.release();
    expect(await acquire()).not.toBeNull();
  });
});
