import { expect, it } from "vitest";
import { createAllowance } from "../../src/outbound/yield-to-intake.ts";

it("allows everything while the intake is quiet", () => {
  const allowance = createAllowance(() => false);
  allowance.renew(1);
  expect([allowance.take(500), allowance.take(500)]).toEqual([500, 500]);
});

it("allows 20 deliveries per pass while the intake is busy", () => {
  const allowance = createAllowance(() => true);
  allowance.renew(1);
  expect([8, 8, 8, 8].map(allowance.take)).toEqual([8, 8, 4, 0]);
  allowance.renew(1);
  expect(allowance.take(8)).toBe(8);
});

it("shares the 20 deliveries among the endpoints, at least one each", () => {
  const allowance = createAllowance(() => true);
  allowance.renew(3);
  expect([8, 8, 8].map(allowance.take)).toEqual([6, 6, 6]);
  allowance.renew(100);
  expect(allowance.take(8)).toBe(1);
});

it("keeps to 20 deliveries until a pass begins while the intake is quiet", () => {
  let isBusy = true;
  const allowance = createAllowance(() => isBusy);
  allowance.renew(1);
  isBusy = false;
  expect([allowance.isYielding(), allowance.take(50)]).toEqual([true, 20]);
  allowance.renew(1);
  expect([allowance.isYielding(), allowance.take(50)]).toEqual([false, 50]);
  isBusy = true;
  expect(allowance.take(50)).toBe(20);
});
