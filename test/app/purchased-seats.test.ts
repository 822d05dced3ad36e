import { expect, it } from "vitest";
import { purchasedSeats } from "../../src/app/(account)/billing/purchased-seats.ts";

const PERIOD = "2026-03-01T00:00:00.000Z";

it("leaves out the default seat of a checkout that names no seats", () => {
  expect(purchasedSeats({ planId: [null, "pro"], seats: [null, 1] })).toBeUndefined();
});

it("shows the seats that arrive with the period as the first ones", () => {
  expect(purchasedSeats({ seats: [1, 3], currentPeriodEnd: [null, PERIOD] })).toEqual([null, 3]);
});

it("shows the seats of a purchase that arrives in one event", () => {
  const changes = { planId: [null, "pro"], seats: [null, 3], currentPeriodEnd: [null, PERIOD] } as const;
  expect(purchasedSeats(structuredClone(changes) as never)).toEqual([null, 3]);
});

it("shows a later change with the previous number", () => {
  expect(purchasedSeats({ seats: [3, 5] })).toEqual([3, 5]);
  expect(purchasedSeats({ seats: [3, 5], currentPeriodEnd: [PERIOD, PERIOD] })).toEqual([3, 5]);
  expect(purchasedSeats({ currentPeriodEnd: [null, PERIOD] })).toBeUndefined();
});
