import { expect, it } from "vitest";
import { dayRange } from "../../src/app/(account)/admin/audit/day-range.ts";

it("includes the whole of both days, in UTC", () => {
  expect(dayRange("2026-02-28", "2026-02-28")).toEqual({
    from: "2026-02-28T00:00:00.000Z",
    to: "2026-03-01T00:00:00.000Z",
  });
});

it.each([undefined, "", "yesterday", "2026-13-01", "2026-02-31", "2026-04-31", "+275760-09-13"])(
  "ignores %j",
  (day) => {
    expect(dayRange(day, day)).toEqual({ from: null, to: null });
  },
);
