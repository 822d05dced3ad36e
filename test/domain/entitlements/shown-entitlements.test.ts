import { expect, it } from "vitest";
import { showEntitlements } from "../../../src/domain/entitlements/shown-entitlements.ts";

it("shows of each quota what has been used of it in its current period", () => {
  const resetsAt = new Date("2030-02-01T00:00:00Z");
  const quota = { kind: "quota", value: 100, until: null, isGrace: false, resetsAt } as const;
  const features = new Map([
    ["events", quota],
    ["exports", quota],
    ["mails", quota],
  ]);
  const periodEndMs = resetsAt.getTime();
  const usage = [
    { feature: "events", periodEndMs: Date.parse("2030-01-01T00:00:00Z"), used: 70 },
    { feature: "events", periodEndMs, used: 30 },
    { feature: "exports", periodEndMs, used: 120 },
  ];
  const access = { planId: "pro", status: "active", until: null, isSubscribed: true } as const;
  expect(showEntitlements({ ...access, features }, usage).features).toEqual({
    events: { kind: "quota", value: 100, used: 30, remaining: 70 },
    exports: { kind: "quota", value: 100, used: 120, remaining: 0 },
    mails: { kind: "quota", value: 100, used: 0, remaining: 100 },
  });
});
