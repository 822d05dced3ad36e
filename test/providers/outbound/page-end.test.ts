import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PaymentApi } from "../../../src/domain/providers/payment-api.ts";
import { createPaymentApi } from "../../../src/providers/create-payment-api.ts";
import { type LocalProvider, localProvider } from "./local-provider.ts";
import { KEY } from "./provider-apis.ts";

let provider: LocalProvider;
beforeAll(async () => {
  provider = await localProvider();
});
afterAll(() => provider.close());

const LISTS: [string, (api: PaymentApi) => Promise<unknown> | null | undefined][] = [
  ["subscriptions", (api) => api.listSubscriptionPage(null, { withEmails: false, changedSince: null })],
  ["payments", (api) => Array.fromAsync(api.listPayments({ since: null, providerSubscriptionId: null }))],
  ["events", (api) => api.listEvents && Array.fromAsync(api.listEvents(new Date(0)))],
  ["customers", (api) => api.listCustomerPage?.(null)],
];

/** More than any list asks for at once. */
const FULL = Array(250).fill({
  id: "1",
  event_id: "1",
  event_type: "other",
  occurred_at: "2026-01-01T00:00:00Z",
});

// Taken for the last page, it would leave the others out of every comparison, and nothing would say so.
describe.each([
  ["stripe", "has_more"],
  ["paddle", "meta.pagination.has_more"],
  ["polar", "pagination.max_page"],
  ["lemon-squeezy", "meta.page.lastPage"],
] as const)("a list of %s that does not say whether there are more", (format, field) => {
  const api = () => createPaymentApi({ slot: "provider-a", format, apiKey: KEY, apiUrl: provider.url });
  const respondWith = (items: object[], value: unknown) => {
    const end = field.split(".").reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
    provider.respondWith(({ path }) => {
      if (path.includes("/disputes/")) return { body: { items: [] } };
      if (path.endsWith("/webhooks/endpoints")) return { body: { items: [{ id: "endpoint_1" }] } };
      return { body: { items, data: items, ...(end as object) } };
    });
  };

  it.each(LISTS)("has no full page of %s", async (_, list) => {
    for (const value of [undefined, "soon"]) {
      respondWith(FULL, value);
      const listed = list(api());
      if (listed)
        await expect(listed).rejects.toMatchObject({
          failure: "unreachable",
          message: expect.stringContaining(`no usable ${field}`),
        });
    }
  });

  it.each(LISTS)("ends with a page of %s that is not full", async (_, list) => {
    respondWith([], undefined);
    await list(api());
    expect(provider.requests.length).toBeLessThan(4);
  });
});
