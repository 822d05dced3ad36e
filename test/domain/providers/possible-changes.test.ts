import { expect, it } from "vitest";
import { possibleChanges } from "../../../src/domain/providers/possible-changes.ts";
import { traitsOf } from "../../../src/providers/registry.ts";

it.each([
  ["stripe", true],
  ["paddle", false],
  ["polar", true],
  ["lemon-squeezy", true],
] as const)("says whether %s changes a subscription while a renewal is unpaid: %s", (format, atOnce) => {
  const unpaid = { status: "past_due", cancelAtPeriodEnd: false } as const;
  expect(possibleChanges(unpaid, traitsOf(format))).toMatchObject({ atOnce, seats: atOnce });
  expect(possibleChanges({ ...unpaid, status: "active" }, traitsOf(format)).atOnce).toBe(true);
});
