import { describe, expect, it } from "vitest";
import { intervalsAfter } from "../../src/simulator/lifecycle/calendar.ts";

const at = (text: string) => Date.parse(text) / 1_000;
const later = (text: string, count: number, interval: "month" | "year") =>
  new Date(intervalsAfter(at(text), count, interval) * 1_000).toISOString();

describe("a billing period", () => {
  it("ends on the same day of the month, or on the last day of a shorter one, without drift", () => {
    const months = [1, 2, 3, 4].map((count) => later("2026-01-31T23:59:59.250Z", count, "month"));
    expect(months).toEqual([
      "2026-02-28T23:59:59.250Z",
      "2026-03-31T23:59:59.250Z",
      "2026-04-30T23:59:59.250Z",
      "2026-05-31T23:59:59.250Z",
    ]);
    expect(later("2026-11-15T08:00:00Z", 14, "month")).toBe("2028-01-15T08:00:00.000Z");
    expect(later("2028-02-29T00:00:00Z", 1, "year")).toBe("2029-02-28T00:00:00.000Z");
    expect(later("2028-02-29T00:00:00Z", 4, "year")).toBe("2032-02-29T00:00:00.000Z");
  });
});
