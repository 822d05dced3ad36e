import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ChangeOrder, PaymentApi } from "../../../src/domain/providers/payment-api.ts";
import { createPaymentApi } from "../../../src/providers/create-payment-api.ts";
import { type LocalProvider, localProvider, type Reply } from "./local-provider.ts";
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

  const refused = (error: string): Reply => ({ status: 400, body: { error, detail: "No." } });
  const invalid = (field: string): Reply => ({
    status: 422,
    body: {
      error: "PolarRequestValidationError",
      detail: [{ type: "value_error", loc: ["body", field], msg: "No.", input: "30" }],
    },
  });
  const refusedAs = async (reply: Reply, changes: Partial<ChangeOrder>, product = seatBased(1)) => {
    provider.respondWith(({ method, path, body }) => {
      if (path.includes("/products/")) return { body: { id: "30", prices: product } };
      if (method === "GET") return { body: subscription(10) };
      const isRefused = changes.when !== "period_end" || !body.includes("product_id");
      return isRefused && !body.includes("pending_update") ? reply : { body: subscription(10) };
    });
    return api
      .changeSubscription(ID, order(changes))
      .catch(({ failure, obstacle }) => ({ failure, obstacle }));
  };

  it("is refused while more seats are assigned, before anything is changed", async () => {
    const refusal = { failure: "unsupported", obstacle: "seats_assigned" };
    expect(await refusedAs(refused("SeatsAlreadyAssigned"), {})).toEqual(refusal);
    expect(steps()).toEqual([3]);
  });

  const NOT_OFFERED = { failure: "unsupported", obstacle: "not_offered" };

  it.each(["AboveMaximumSeats", "BelowMinimumSeats", "NotASeatBasedSubscription"])(
    "is not offered for the next period where the present product does not allow the seats: %s",
    async (error) => {
      expect(await refusedAs(refused(error), { when: "period_end" })).toEqual(NOT_OFFERED);
    },
  );

  it("is not offered from seats to a product without them", async () => {
    const changes = { seats: null };
    expect(await refusedAs(invalid("product_id"), changes, [{ amount_type: "fixed" } as never])).toEqual(
      NOT_OFFERED,
    );
    expect(await refusedAs(invalid("product_id"), changes)).toMatchObject({ failure: "rejected" });
  });

  it("is not offered to a product with seats for the next period", async () => {
    provider.respondWith(({ method }) =>
      method === "GET" ? { body: subscription(null) } : invalid("proration_behavior"),
    );
    const changes = { when: "period_end", seats: null } as const;
    await expect(api.changeSubscription(ID, order(changes))).rejects.toMatchObject(NOT_OFFERED);
  });

  it("is a mistake where the plan allows other seats than its product", async () => {
    const seatsAlone = { priceId: null, when: "period_end" } as const;
    expect(await refusedAs(refused("AboveMaximumSeats"), seatsAlone)).toMatchObject({ failure: "rejected" });
  });
});
