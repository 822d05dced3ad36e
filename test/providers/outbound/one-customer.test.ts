import { afterAll, beforeAll, expect, it } from "vitest";
import type { PaymentApi } from "../../../src/domain/providers/payment-api.ts";
import type { WireFormat } from "../../../src/providers/adapter.ts";
import { createPaymentApi } from "../../../src/providers/create-payment-api.ts";
import { type LocalProvider, localProvider } from "./local-provider.ts";
import { KEY } from "./provider-apis.ts";

let provider: LocalProvider;
beforeAll(async () => {
  provider = await localProvider();
});
afterAll(() => provider.close());

const apiOf = (format: WireFormat): PaymentApi =>
  createPaymentApi({ slot: "provider-a", format, apiKey: KEY, apiUrl: provider.url });

/** An empty list in every provider's format. */
const EMPTY = { object: "list", data: [], items: [], has_more: false, pagination: { max_page: 0 } };

it.each([
  ["stripe", "customer"],
  ["paddle", "customer_id"],
  ["polar", "customer_id"],
])("asks %s for the subscriptions of one customer alone", async (format, parameter) => {
  provider.respondWith(() => ({ body: EMPTY }));
  await apiOf(format).findSubscriptions({ userId: "user_7", customerId: "cus_1" });
  expect(provider.requests.map(({ query }) => query.get(parameter))).toEqual(["cus_1"]);
});

it("takes of the subscriptions of an address at Lemon Squeezy those of the customer", async () => {
  const subscription = (id: string, customer_id: number) => ({
    id,
    attributes: { customer_id, status: "active", user_email: "ann@example.com" },
  });
  provider.respondWith(({ path }) => ({
    body: {
      data: path.includes("/customers/")
        ? { id: "7", attributes: { email: "ann@example.com" } }
        : [subscription("1", 7), subscription("2", 8)],
    },
  }));
  const found = await apiOf("lemon-squeezy").findSubscriptions({ userId: "user_7", customerId: "7" });
  expect(found.map(({ providerSubscriptionId }) => providerSubscriptionId)).toEqual(["1"]);
  expect(provider.requests.map(({ query }) => query.get("filter[user_email]"))).toEqual([
    null,
    "ann@example.com",
  ]);
});

it.each([
  ["stripe", "subscription"],
  ["paddle", "subscription_id"],
  ["polar", "subscription_id"],
  ["lemon-squeezy", "filter[subscription_id]"],
])("asks %s for the payments of one subscription alone", async (format, parameter) => {
  provider.respondWith(() => ({ body: EMPTY }));
  const selection = { since: null, providerSubscriptionId: "sub_1" };
  await Array.fromAsync(apiOf(format).listPayments(selection));
  const lists = provider.requests.filter(({ path }) => !path.includes("disputes"));
  expect(lists.map(({ query }) => query.get(parameter))).toEqual(["sub_1"]);
});
