import { describe, expect, it, onTestFinished, vi } from "vitest";
import { limitHeaders } from "../../src/http/limit-headers.ts";
import type { LimitCharge } from "../../src/limits/charge.ts";

const NOW = 1_800_000_000_000;

function charge(overrides: Partial<LimitCharge>): LimitCharge {
  return {
    scope: "api",
    limit: 30,
    windowSeconds: 60,
    allowed: true,
    remaining: 29,
    resetAt: NOW + 58_000,
    decidedAt: NOW,
    ...overrides,
  };
}

describe("limit headers", () => {
  it("are left out when nothing was charged", () => {
    expect(limitHeaders([])).toEqual({});
  });

  it("contain the remainder and the policy", () => {
    expect(limitHeaders([charge({})])).toEqual({
      "x-ratelimit-limit": "30",
      "x-ratelimit-remaining": "29",
      "x-ratelimit-reset": "1800000058",
      ratelimit: '"api";r=29;t=58',
      "ratelimit-policy": '"api";q=30;w=60',
    });
  });

  it("contain every scope, and the lowest remainder", () => {
    const charges = [
      charge({ scope: "rpc", limit: 60, remaining: 12 }),
      charge({ scope: "billing", limit: 5, remaining: 4, resetAt: NOW + 59_001 }),
    ];
    expect(limitHeaders(charges)).toEqual({
      "x-ratelimit-limit": "5",
      "x-ratelimit-remaining": "4",
      "x-ratelimit-reset": "1800000060",
      ratelimit: '"rpc";r=12;t=58, "billing";r=4;t=60',
      "ratelimit-policy": '"rpc";q=60;w=60, "billing";q=5;w=60',
    });
  });

  it("contain each scope once, after its last charge", () => {
    const charges = [
      charge({ remaining: 3 }),
      charge({ scope: "rpc", remaining: 9 }),
      charge({ remaining: 2 }),
    ];
    expect(limitHeaders(charges)).toMatchObject({
      "x-ratelimit-remaining": "2",
      ratelimit: '"rpc";r=9;t=58, "api";r=2;t=58',
    });
  });

  it.each([
    [60_000, "60"],
    [59_001, "60"],
    [59_000, "59"],
    [1, "1"],
    [0, "1"],
    [-5_000, "1"],
  ])("round a wait of %d ms up to Retry-After %s", (waitMs, seconds) => {
    const headers = limitHeaders([charge({ allowed: false, remaining: 0, resetAt: NOW + waitMs })]);
    expect(headers["retry-after"]).toBe(seconds);
    expect(headers["x-ratelimit-remaining"]).toBe("0");
    expect(headers.ratelimit).toBe(`"api";r=0;t=${Math.max(0, Math.ceil(waitMs / 1000))}`);
  });

  it("name no more seconds than the window when the decision falls between two milliseconds", () => {
    const decidedAt = NOW + 0.4;
    const refused = charge({
      allowed: false,
      remaining: 0,
      decidedAt,
      resetAt: Math.ceil(decidedAt + 60_000),
    });
    expect(limitHeaders([refused])["retry-after"]).toBe("60");
  });

  it("contain what remains when a larger cost is refused", () => {
    const headers = limitHeaders([charge({ allowed: false, remaining: 3 })]);
    expect(headers["x-ratelimit-remaining"]).toBe("3");
    expect(headers["retry-after"]).toBe("58");
  });

  it.each([
    ["ahead", 7_200],
    ["back", -7_200],
  ])("name the time of the reset by a clock that has been set %s since the start", (_, seconds) => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + seconds * 1000 });
    onTestFinished(() => void vi.useRealTimers());
    const headers = limitHeaders([charge({ allowed: false, remaining: 0 })]);
    expect(headers["x-ratelimit-reset"]).toBe(`${1_800_000_058 + seconds}`);
    expect(headers["retry-after"]).toBe("58");
  });

  it("have the longest wait of several refusals", () => {
    const charges = [
      charge({ scope: "rpc", resetAt: NOW + 300_000 }),
      charge({ scope: "settings", allowed: false, remaining: 0, resetAt: NOW + 7_200 }),
      charge({ scope: "billing", allowed: false, remaining: 0, resetAt: NOW + 30_000 }),
    ];
    expect(limitHeaders(charges)["retry-after"]).toBe("30");
    expect(limitHeaders(charges.reverse())["retry-after"]).toBe("30");
  });
});
