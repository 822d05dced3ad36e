import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isoText } from "../../src/domain/iso-text.ts";

describe("isoText", () => {
  it("returns what toISOString returns, for any date", () => {
    fc.assert(
      fc.property(fc.date({ noInvalidDate: true }), (date) => {
        expect(isoText(date)).toBe(date.toISOString());
      }),
      { numRuns: 5_000 },
    );
  });

  it.each([
    -1, 0, 999, 1_000, 59_999, 60_000, 86_399_999, 86_400_000, -86_400_000, -86_400_001, 253_402_300_799_999,
    253_402_300_800_000, -62_167_219_200_000, -62_167_219_200_001, 8.64e15, -8.64e15,
  ])("formats the edge %d", (ms) => {
    expect(isoText(new Date(ms))).toBe(new Date(ms).toISOString());
  });

  it("throws for an invalid date", () => {
    expect(() => isoText(new Date(Number.NaN))).toThrow(RangeError);
  });
});
