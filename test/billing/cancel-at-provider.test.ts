import { expect, it } from "vitest";
import { cancelAtProvider } from "../../src/billing/cancel-at-provider.ts";
import type { CancelResult, PaymentApi } from "../../src/domain/payment-api.ts";

const SUBSCRIPTION = {
  id: "8f9c1c5e-0000-4000-8000-000000000001",
  provider: "provider-a",
  providerSubscriptionId: "sub_1",
  customerId: null,
  status: "active",
} as const;

it.each([
  ["canceled", []],
  [
    "unknown",
    [
      "the subscription of a deleted account is unknown to its provider: cancel it where it was bought",
      { slot: "provider-a", subscriptionId: SUBSCRIPTION.id, providerSubscriptionId: "sub_1" },
    ],
  ],
] as const)("succeeds when the subscription is %s, and reports an unknown one", async (result, reported) => {
  const logged: unknown[] = [];
  const log = { error: (facts: object, message: string) => void logged.push(message, facts) };
  const api = { cancelSubscription: async (): Promise<CancelResult> => result } as Partial<PaymentApi>;
  const payments = { "provider-a": api as PaymentApi, "provider-b": null, "provider-c": null };
  const cancel = cancelAtProvider({ payments, log });
  await cancel?.(SUBSCRIPTION);
  expect(logged).toEqual(reported);
});
