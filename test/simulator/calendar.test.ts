import { describe, expect, it } from "vitest";
import { renew } from "../../src/simulator/lifecycle/advance.ts";
import { applyCommand } from "../../src/simulator/lifecycle/apply-command.ts";
import { intervalsAfter, monthAfter } from "../../src/simulator/lifecycle/calendar.ts";
import type { Offer } from "../../src/simulator/lifecycle/offer.ts";
import { startBilling } from "../../src/simulator/lifecycle/start-billing.ts";
import { control, order, press, simulator } from "./test-context.ts";

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

  const offer = (priceId: string, interval: "month" | "year") =>
    ({ priceId, interval, planName: "Pro", seats: { min: 1, max: 9 } }) as Offer;

  it("starts a new period when the interval of the plan changes, except during a trial", () => {
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

  it.each([
    ["month", "year", "2026-02-28T10:00:00Z", ["2027-02-28T10:00:00Z", "2028-02-28T10:00:00Z"]],
    ["year", "month", "2027-01-31T10:00:00Z", ["2027-02-28T10:00:00Z", "2027-03-31T10:00:00Z"]],
  ] as const)(
    "has the new length from its start on, after a change from %s to %s",
    (from, to, start, ends) => {
      const bought = startBilling(
        { offer: offer(from, from), seats: 1, trialDays: 0 },
        at("2026-01-31T10:00:00Z"),
      );
      const scheduled = { ...bought, scheduled: { offer: offer(to, to), seats: null } };
      const first = renew(scheduled, at(start)).subscription;
      const second = renew(first, first.state.periodEndSeconds).subscription;
      expect([first, second].map(({ state }) => state.periodEndSeconds)).toEqual(ends.map(at));
    },
  );
});

describe("a month on the clock", () => {
  it.each([28, 29, 30, 31])("renews a monthly subscription once, which began on January %i", async (day) => {
    const sim = await simulator({ deliverTo: () => "http://127.0.0.1:9/" });
    const start = Date.UTC(new Date().getUTCFullYear() + 1, 0, day, 10);
    await control(sim.url, "/clock", { by: Math.round((start - Date.now()) / 1_000) });
    const checkout = await order(sim.url, "stripe");
    await press(checkout.url, { action: "pay", email: "user@example.com", card: "4242424242424242" });
    for (let month = 1; month <= 14; month += 1) {
      await control(sim.url, "/clock", { by: "month" });
      expect(sim.payments("provider-a")).toHaveLength(1 + month);
    }
  });

  it("ends on the same day where no subscription asks for a later one", () => {
    const monthsAfter = (text: string) =>
      Object.values(monthAfter(at(text))).map((seconds) => new Date(seconds * 1_000).toISOString());
    expect(monthsAfter("2026-11-30T10:00:00Z")).toEqual([
      "2026-12-30T10:00:00.000Z",
      "2026-12-31T10:00:00.000Z",
    ]);
    expect(monthsAfter("2026-11-29T10:00:00Z")).toEqual([
      "2026-12-29T10:00:00.000Z",
      "2026-12-29T10:00:00.000Z",
    ]);
  });
});
