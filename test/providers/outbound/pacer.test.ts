import { describe, expect, it } from "vitest";
import type { WireFormat } from "../../../src/providers/adapter.ts";
import { connectProvider } from "../../../src/providers/outbound/connected-provider.ts";
import { createPacer } from "../../../src/providers/outbound/pacer.ts";
import { PADDLE_TRAITS } from "../../../src/providers/paddle/traits.ts";
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

  it("pauses for ten minutes at most, however long the Retry-After", async () => {
    const pacer = createPacer(null);
    pacer.pause(11 * 24 * 3_600_000);
    expect(pacer.waitMs()).toBeGreaterThan(500_000);
    expect(pacer.waitMs()).toBeLessThanOrEqual(600_000);
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

  it("spares a provider the requests beyond its limit, unless it runs on this machine", async () => {
    const pacerAt = (apiUrl: string | null) => {
      const connection = { slot: "provider-b", format: "paddle", apiKey: "pdl_1", apiUrl } as const;
      return connectProvider(connection, PADDLE_TRAITS, () => null).pacer;
    };
    const sentAtOnce = async (apiUrl: string | null) => {
      const pacer = pacerAt(apiUrl);
      let sent = 0;
      while (sent < 1_000 && (await pacer.wait(0))) sent += 1;
      return sent;
    };
    expect(await sentAtOnce(null)).toBeLessThan(1_000);
    expect(await sentAtOnce("http://127.0.0.1:4000/provider-b")).toBe(1_000);
  });

  it("delays nothing without a limit", async () => {
    const pacer = createPacer(null);
    for (let n = 0; n < 1_000; n += 1) expect(await pacer.wait(0)).toBe(true);
  });
});
