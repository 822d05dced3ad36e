import { describe, expect, it } from "vitest";
import type { WireFormat } from "../../../src/providers/adapter.ts";
import { createPacer } from "../../../src/providers/outbound/pacer.ts";
import { traitsOf } from "../../../src/providers/registry.ts";

describe("a pacer", () => {
  it("lets a quarter of the limit through at once, and delays the next request", async () => {
    const pacer = createPacer({ requests: 240, perSeconds: 60 });
    let sent = 0;
    while (await pacer.wait(0)) sent += 1;
    // 60 of a minute's 240, and those whose time has come meanwhile.
    expect(sent).toBeGreaterThanOrEqual(60);
    expect(sent).toBeLessThan(90);
    expect(pacer.waitMs()).toBeGreaterThan(0);
    expect(pacer.waitMs()).toBeLessThanOrEqual(250);
  });

  it("delays every request during the provider's Retry-After", async () => {
    const pacer = createPacer(null);
    expect(await pacer.wait(0)).toBe(true);
    pacer.pause(60_000);
    expect(await pacer.wait(10_000)).toBe(false);
    expect(pacer.waitMs()).toBeGreaterThan(50_000);
  });

  it.each([
    ["stripe", "https://api.stripe.com", 25, 1],
    ["paddle", "https://api.paddle.com", 240, 60],
    ["polar", "https://api.polar.sh", 500, 60],
    ["polar", "https://sandbox-api.polar.sh", 100, 60],
    ["lemon-squeezy", "https://api.lemonsqueezy.com", 300, 60],
  ])("keeps to the documented limit of %s at %s: %d in %d s", (format, apiUrl, requests, perSeconds) => {
    expect(traitsOf(format as WireFormat).requestLimit(apiUrl)).toEqual({ requests, perSeconds });
  });

  it("delays nothing without a limit", async () => {
    const pacer = createPacer(null);
    for (let n = 0; n < 1_000; n += 1) expect(await pacer.wait(0)).toBe(true);
  });
});
