import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ChangeOrder, PaymentApi } from "../../../src/domain/providers/payment-api.ts";
import { createPaymentApi } from "../../../src/providers/create-payment-api.ts";
import { type LocalProvider, localProvider } from "./local-provider.ts";
import { KEY } from "./provider-apis.ts";

const ID = "00000000-0000-4000-8000-000000000050";

describe("a change of a subscription at Polar", () => {
  let provider: LocalProvider;
  let api: PaymentApi;
  beforeAll(async () => {
    provider = await localProvider();
    api = createPaymentApi({ slot: "provider-c", format: "polar", apiKey: KEY, apiUrl: provider.url });
  });
  afterAll(() => provider.close());

  const seatBased = (minimum_seats: number) => [{ amount_type: "seat_based", seat_tiers: { minimum_seats } }];
  const subscription = (seats: number | null, minimumSeats = 1) => ({
    ...{ id: ID, pending_update: null, seats },
    prices: seats === null ? [{ amount_type: "fixed" }] : seatBased(minimumSeats),
  });
  const order = (changes: Partial<ChangeOrder>): ChangeOrder => ({
    ...({ when: "now", currentPriceId: "29", priceId: "30", seats: 3 } as const),
    resultingPriceId: "30",
    resultingSeats: 3,
    ...changes,
  });
  const steps = () =>
    provider.requests
      .filter(({ method }) => method === "PATCH")
      .map(({ body }) => {
        const { product_id, seats } = JSON.parse(body);
        return product_id ?? seats;
      });

  it.each([
    ["fewer seats first", subscription(10), {}, [3, "30"]],
    ["as few first as the present product allows", subscription(10, 5), {}, [5, "30", 3]],
    ["the product first where it allows no fewer", subscription(5, 5), {}, ["30", 3]],
    ["more seats last", subscription(2), {}, ["30", 3]],
    ["seats last where there were none", subscription(null), {}, ["30", 3]],
    ["seats last for the next period", subscription(10), { when: "period_end" }, ["30", 3]],
  ] as const)("asks for %s", async (_, present, changes, sent) => {
    provider.respondWith(() => ({ body: present }));
    await api.changeSubscription(ID, order(changes));
    expect(steps()).toEqual(sent);
  });
});
