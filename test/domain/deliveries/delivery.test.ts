import { describe, expect, it } from "vitest";
import { MAX_ATTEMPTS, secondsUntilRetry } from "../../../src/domain/deliveries/delivery.ts";

const MIDDLE = 0.5;

describe("the delay before the next attempt", () => {
  it("starts at 15 seconds, quadruples with each failure, and ends at six hours", () => {
    const waits = Array.from({ length: 11 }, (_, n) => secondsUntilRetry(n + 1, MIDDLE));
    expect(waits).toEqual([15, 60, 240, 960, 3_840, 15_360, 21_600, 21_600, 21_600, 21_600, 21_600]);
  });

  it("varies by 20 % in both directions", () => {
    expect(secondsUntilRetry(1, 0)).toBeCloseTo(12);
    expect(secondsUntilRetry(1, 1)).toBeCloseTo(18);
    expect(secondsUntilRetry(9, 1)).toBeCloseTo(25_920);
  });

  it("is null after the twelfth failure", () => {
    expect(MAX_ATTEMPTS).toBe(12);
    expect(secondsUntilRetry(12, MIDDLE)).toBeNull();
  });
});
