import { expect, it } from "vitest";
import { withPurchasedSeats } from "../../../src/domain/subscriptions/purchased-seats.ts";

const PERIOD = "2026-03-01T00:00:00.000Z";

it("leaves out the default seat of a checkout that names no seats", () => {
  expect(withPurchasedSeats({ planId: [null, "pro"], seats: [null, 1] })).toEqual({ planId: [null, "pro"] });
});

it("shows seats that arrive together with the period as a purchase", () => {
  const changes = { seats: [1, 3], currentPeriodEnd: [null, PERIOD] } as const;
  expect(withPurchasedSeats(structuredClone(changes) as never)).toEqual({ ...changes, seats: [null, 3] });
});

it("shows the seats of a purchase that arrives in one event", () => {
  const changes = { planId: [null, "pro"], seats: [null, 3], currentPeriodEnd: [null, PERIOD] } as const;
  expect(withPurchasedSeats(structuredClone(changes) as never)).toEqual(changes);
});

it("shows a later change with the previous number", () => {
  for (const changes of [
    { seats: [3, 5] },
    { seats: [3, 5], currentPeriodEnd: [PERIOD, PERIOD] },
    { currentPeriodEnd: [null, PERIOD] },
  ]) {
    expect(withPurchasedSeats(structuredClone(changes) as never)).toEqual(changes);
  }
});
