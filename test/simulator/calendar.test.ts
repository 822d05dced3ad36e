import { describe, expect, it } from "vitest";
import { applyCommand } from "../../src/simulator/lifecycle/apply-command.ts";
import { intervalsAfter, monthAfter } from "../../src/simulator/lifecycle/calendar.ts";
import type { Offer } from "../../src/simulator/lifecycle/offer.ts";
import { startBilling } from "../../src/simulator/lifecycle/start-billing.ts";

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

  it("starts a new period when the interval of the plan changes, except during a trial", () => {
    const offer = (priceId: string, interval: "month" | "year") =>
      ({ priceId, interval, planName: "Pro", seats: { min: 1, max: 9 } }) as Offer;
    const [start, now] = [at("2026-01-31T10:00:00Z"), at("2026-02-10T12:00:00Z")];
    const periodAfter = (from: "month" | "year", to: "month" | "year", trialDays = 0) => {
      const bought = startBilling({ offer: offer(from, from), seats: 1, trialDays }, start);
      const changed = applyCommand(
        bought,
        { to: "change items", offer: offer(to, to), seats: 1, billing: "never" },
        now,
      );
      if (typeof changed === "string") throw new Error(changed);
      const { periodStartSeconds, periodEndSeconds } = changed.subscription.state;
      return [periodStartSeconds, periodEndSeconds];
    };
    expect(periodAfter("month", "year")).toEqual([now, at("2027-02-10T12:00:00Z")]);
    expect(periodAfter("year", "month")).toEqual([now, at("2026-03-10T12:00:00Z")]);
    expect(periodAfter("month", "year", 14)).toEqual([start, at("2026-02-14T10:00:00Z")]);
  });
});

describe("the clock, moved on by months", () => {
  it.each([28, 29, 30, 31])(
    "passes one end of a monthly period with each, of one begun on January %i",
    (day) => {
      const start = at(`2027-01-${day}T10:00:00Z`);
      let now = start + 1;
      for (let month = 1; month <= 24; month += 1) {
        now = monthAfter(now);
        expect(now).toBeGreaterThan(intervalsAfter(start, month, "month"));
        expect(now).toBeLessThan(intervalsAfter(start, month + 1, "month"));
      }
    },
  );
});
