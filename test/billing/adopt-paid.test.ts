import { describe, expect, it } from "vitest";
import { adoptPaid } from "../../src/billing/adopt-paid.ts";
import type { PaymentApi } from "../../src/domain/providers/payment-api.ts";
import { stripeContext } from "../support/stripe-context.ts";

const context = stripeContext();
const { truth, stored } = context;

const ADDRESS = "user_1@example.com";

/** The subscription of user_1's checkout, found by the address that its payer typed in. */
async function adoptFoundBy(address: string, differences: Partial<PaymentApi> = {}): Promise<void> {
  const { intake, payments } = context.runtime;
  const stripe = payments["provider-a"] as PaymentApi;
  const api: PaymentApi = {
    ...stripe,
    listEvents: null,
    fetchSubscription: async (id) => {
      const state = await stripe.fetchSubscription(id);
      return state && { ...state, userId: null, customerEmail: address };
    },
    ...differences,
  };
  const paid = { provider: "provider-a", userId: "user_1", providerSubscriptionId: "sub_1" } as const;
  await adoptPaid({ intake, payments: { ...payments, "provider-a": api } }, paid);
}

const confirm = () =>
  context.test.rows(`update "user" set email = $1, email_verified = true where id = 'user_1'`, [ADDRESS]);

describe("the subscription of a paid checkout", () => {
  it("is recorded for the user who has confirmed its address, and who is notified", async () => {
    await confirm();
    truth({ seats: 3 });
    await adoptFoundBy(ADDRESS.toUpperCase());
    expect(await stored()).toMatchObject([{ user_id: "user_1", seats: 3, status: "active" }]);
    expect(await context.test.rows("select customer_id from subscription")).toEqual([
      { customer_id: "cus_1" },
    ]);
    expect(await context.notified()).toEqual(["subscription_activated"]);
  });

  it("stores when the provider was asked, so that later events are not late", async () => {
    await confirm();
    truth({ seats: 3 });
    let answeredAtMicros = Number.NaN;
    context.stripe.interfere(async () => {
      answeredAtMicros = Date.now() * 1000;
      return undefined;
    });
    const calledAtMicros = Date.now() * 1000;
    await adoptFoundBy(ADDRESS);
    const [subscription] = await context.test.rows<{ compared_at_micros: string | null }>(
      "select compared_at_micros from subscription",
    );
    expect(Number(subscription?.compared_at_micros)).toBeGreaterThanOrEqual(calledAtMicros);
    expect(Number(subscription?.compared_at_micros)).toBeLessThanOrEqual(answeredAtMicros);
  });

  it("is left to its event when the address is not confirmed, or another's", async () => {
    truth();
    await context.test.rows(`update "user" set email = $1 where id = 'user_1'`, [ADDRESS]);
    await adoptFoundBy(ADDRESS);
    await confirm();
    await adoptFoundBy("user_2@example.com");
    expect(await stored()).toEqual([]);
  });

  it("is not recorded where its provider does not know it", async () => {
    await confirm();
    await adoptFoundBy(ADDRESS);
    expect(await stored()).toEqual([]);
  });

  it("is left to the sweep where the provider lists events", async () => {
    await confirm();
    truth();
    await adoptFoundBy(ADDRESS, { listEvents: async function* () {} });
    expect(await stored()).toEqual([]);
  });

  it("stays unchanged once its event has arrived", async () => {
    await confirm();
    await context.receive(context.eventOf("customer.subscription.created", { userId: "user_2" }));
    truth({ seats: 3 });
    await adoptFoundBy(ADDRESS);
    expect(await stored()).toMatchObject([{ user_id: "user_2", seats: 1 }]);
  });
});
