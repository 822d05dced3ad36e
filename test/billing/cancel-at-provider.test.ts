import { expect, it } from "vitest";
import { cancelAtProvider } from "../../src/billing/cancel-at-provider.ts";
import type { CancelResult, PaymentApi } from "../../src/domain/providers/payment-api.ts";
import { PaymentApiProblem } from "../../src/domain/providers/payment-api-problem.ts";

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
  const { cancel, logged } = cancelWith(async () => result);
  await cancel?.(SUBSCRIPTION);
  expect(logged).toEqual(reported);
});

it.each([
  ["its slot has no provider", { provider: "provider-b" }, "nothing is configured for its slot"],
  [
    "the provider's id of it is unknown",
    { providerSubscriptionId: null },
    "the provider's id of it is not known yet",
  ],
] as const)("fails when %s, since it may still be charged for", async (_, difference, reason) => {
  const asked: string[] = [];
  const { cancel, logged } = cancelWith(async (id) => {
    asked.push(id);
    return "canceled";
  });
  const canceling = cancel?.({ ...SUBSCRIPTION, ...difference });
  await expect(canceling).rejects.toThrow(`the subscription could not be canceled: ${reason}`);
  const slot = "provider" in difference ? difference.provider : SUBSCRIPTION.provider;
  expect(logged).toEqual([
    "a subscription could not be canceled",
    { slot, subscriptionId: SUBSCRIPTION.id, reason },
  ]);
  expect(asked).toEqual([]);
});

it.each([
  [new PaymentApiProblem("unreachable", "the provider is away"), "the provider is away"],
  [new TypeError("a defect"), "TypeError: a defect"],
])("fails when the provider does, and reports why: %s", async (problem, reason) => {
  const { cancel, logged } = cancelWith(() => Promise.reject(problem));
  await expect(cancel?.(SUBSCRIPTION)).rejects.toBe(problem);
  expect(logged).toEqual([
    "a subscription could not be canceled",
    { slot: "provider-a", subscriptionId: SUBSCRIPTION.id, reason },
  ]);
});

it("is not offered without any provider", () => {
  const payments = { "provider-a": null, "provider-b": null, "provider-c": null };
  expect(cancelAtProvider({ payments, log: { error: () => {} } })).toBeNull();
});

/** With a provider in one slot. */
function cancelWith(cancelSubscription: (id: string) => Promise<CancelResult>) {
  const logged: unknown[] = [];
  const log = { error: (facts: object, message: string) => void logged.push(message, facts) };
  const api = { cancelSubscription } as Partial<PaymentApi>;
  const payments = { "provider-a": api as PaymentApi, "provider-b": null, "provider-c": null };
  return { cancel: cancelAtProvider({ payments, log }), logged };
}
