import { afterAll, beforeAll, expect, it } from "vitest";
import type { PaymentApi } from "../../../src/domain/payment-api.ts";
import { createPaymentApi } from "../../../src/providers/create-payment-api.ts";
import { type LocalProvider, localProvider } from "./local-provider.ts";
import { KEY } from "./provider-apis.ts";

let provider: LocalProvider;
beforeAll(async () => {
  provider = await localProvider();
});
afterAll(() => provider.close());

const LISTS: [string, (api: PaymentApi) => Promise<unknown>][] = [
  ["subscriptions", (api) => Array.fromAsync(api.listSubscriptions(null))],
  ["subscriptions with their customers", (api) => api.listSubscriptionPage(null, { withEmails: true })],
  ["payments", (api) => Array.fromAsync(api.listPayments({ since: null, providerSubscriptionId: null }))],
];

// Else a comparison would take the rest for missing, or never look at it.
for (const [format, count] of [
  ["polar", "pagination.max_page"],
  ["lemon-squeezy", "meta.page.lastPage"],
] as const)
  it.each(LISTS)(
    `of ${format}: a page of %s that does not say how many there are is no list`,
    async (_, list) => {
      const api = createPaymentApi({ slot: "provider-a", format, apiKey: KEY, apiUrl: provider.url });
      provider.respondWith(({ path }) => ({
        body: { items: [], data: [], ...(path.includes("/disputes/") && { pagination: { max_page: 0 } }) },
      }));
      await expect(list(api)).rejects.toMatchObject({
        failure: "unreachable",
        message: expect.stringContaining(`no usable ${count}`),
      });
    },
  );
