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
        const { product_id, seats, proration_behavior } = JSON.parse(body);
        return `${product_id ? `product ${product_id}` : `${seats} seats`}, ${proration_behavior}`;
      });

  const FIRST = "3 seats, prorate";
  const PRODUCT = "product 30, invoice";
  const LAST = "3 seats, invoice";
  const AT_PERIOD_END = ["product 30, next_period", "3 seats, next_period"];

  it.each([
    ["fewer seats first, on the invoice of the product", subscription(10), {}, [FIRST, PRODUCT]],
    [
      ...["as few first as the present product allows", subscription(10, 5), {}],
      ["5 seats, prorate", PRODUCT, LAST],
    ],
    ["the product first where it allows no fewer", subscription(5, 5), {}, [PRODUCT, LAST]],
    ["more seats last", subscription(2), {}, [PRODUCT, LAST]],
    ["fewer seats alone", subscription(10), { priceId: null }, [LAST]],
    ["seats last where there were none", subscription(null), {}, [PRODUCT, LAST]],
    ["seats last for the next period", subscription(10), { when: "period_end" }, AT_PERIOD_END],
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
    expect(steps()).toEqual([FIRST]);
  });

  const NOT_OFFERED = { failure: "unsupported", obstacle: "not_offered" };
  const BACK = "10 seats, prorate";

  it.each([
    [
      "is declined",
      { status: 402, body: { error: "PaymentFailed", detail: "No." } },
      { failure: "declined" },
    ],
    ["is one without seats", invalid("product_id"), NOT_OFFERED],
  ] as const)("puts the seats back where the product %s", async (_, reply, refusal) => {
    provider.respondWith(({ method, path, body }) => {
      if (path.includes("/products/")) return { body: { id: "30", prices: [{ amount_type: "fixed" }] } };
      return method === "PATCH" && body.includes("product_id") ? reply : { body: subscription(10) };
    });
    await expect(api.changeSubscription(ID, order({}))).rejects.toMatchObject(refusal);
    expect(steps()).toEqual([FIRST, PRODUCT, BACK]);
  });

  it("is incomplete where nobody knows whether the product was changed, or the seats are not put back", async () => {
    const failing = (replies: Record<string, Reply>) =>
      provider.respondWith(({ method, body }) => {
        const [, reply] = Object.entries(replies).find(([part]) => body.includes(part)) ?? [];
        return method === "PATCH" && reply !== undefined ? reply : { body: subscription(10) };
      });
    const unknown: Reply = { status: 502, body: "" };
    failing({ product_id: unknown });
    await expect(api.changeSubscription(ID, order({}))).rejects.toMatchObject({ failure: "incomplete" });
    expect(steps()).not.toContain(BACK);
    failing({ product_id: refused("PaymentFailed"), '"seats":10': unknown });
    await expect(api.changeSubscription(ID, order({}))).rejects.toMatchObject({ failure: "incomplete" });
    expect(steps()).toContain(BACK);
  });

  const BEYOND = { failure: "unsupported", obstacle: "seats_outside_current_plan" };

  it.each([
    ["AboveMaximumSeats", BEYOND],
    ["BelowMinimumSeats", BEYOND],
    ["NotASeatBasedSubscription", NOT_OFFERED],
  ])(
    "is not made for the next period where the present product does not allow the seats: %s",
    async (error, refusal) => {
      expect(await refusedAs(refused(error), { when: "period_end" })).toEqual(refusal);
    },
  );

  it("is not offered, and puts the seats back, where the product allows fewer than the present one does", async () => {
    const tooMany = refused("InvalidQuantityError");
    for (const present of [subscription(10, 5), subscription(5, 5)]) {
      provider.respondWith(({ method, body }) =>
        method === "PATCH" && body.includes("product_id") ? tooMany : { body: present },
      );
      await expect(api.changeSubscription(ID, order({}))).rejects.toMatchObject(NOT_OFFERED);
      expect(steps()).toEqual(present.seats === 10 ? ["5 seats, prorate", PRODUCT, BACK] : [PRODUCT]);
      const atPeriodEnd = (seats: number) => api.changeSubscription(ID, order({ when: "period_end", seats }));
      await expect(atPeriodEnd(3)).rejects.toMatchObject(BEYOND);
      if (present.seats === 10) await expect(atPeriodEnd(5)).rejects.toMatchObject(NOT_OFFERED);
    }
  });

  it.each([
    [{ seats: 4 }, "refused"],
    [{ seats: 5 }, null],
    [{ seats: 9 }, null],
    [{ seats: 10 }, "refused"],
    [{ seats: 4, priceId: null }, null],
    [{ seats: null }, null],
    [{ seats: 4, when: "now" }, null],
  ] as const)("is previewed for the next period as Polar decides: %j is %s", async (changes, outcome) => {
    const prices = [{ amount_type: "seat_based", seat_tiers: { minimum_seats: 5, maximum_seats: 9 } }];
    provider.respondWith(() => ({ body: { ...subscription(5), prices } }));
    const preview = api.previewChange(ID, order({ when: "period_end", ...changes }));
    if (outcome === null) expect(await preview).toBeNull();
    else await expect(preview).rejects.toMatchObject(BEYOND);
  });

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
    provider.respondWith(({ method }) =>
      method === "GET" ? { body: subscription(10) } : refused("InvalidQuantityError"),
    );
    const sameSeats = order({ seats: null, resultingSeats: 10 });
    await expect(api.changeSubscription(ID, sameSeats)).rejects.toMatchObject({ failure: "rejected" });
  });
});
