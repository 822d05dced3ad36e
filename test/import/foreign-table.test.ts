import { afterEach, expect, it, vi } from "vitest";
import { timeColumn } from "../../src/import/sources/foreign-table.ts";

afterEach(() => void vi.unstubAllEnvs());

it.each([
  ["2027-01-01T00:00:00", "2027-01-01T00:00:00.000Z"],
  ["2027-01-01T00:00:00Z", "2027-01-01T00:00:00.000Z"],
  ["2027-01-01T00:00:00+02:00", "2026-12-31T22:00:00.000Z"],
  ["2027-01-01 00:00:00-05", "2027-01-01T05:00:00.000Z"],
])("reads the time %s, without a zone in UTC wherever the command runs", (text, expected) => {
  vi.stubEnv("TZ", "America/New_York");
  expect(timeColumn({ period_end: text }, "periodEnd", "period_end")?.toISOString()).toBe(expected);
});

it("reads no time from what is none", () => {
  for (const value of [null, "soon", 1_798_761_600]) expect(timeColumn({ at: value }, "at")).toBeNull();
});
