import { describe, expect, it } from "vitest";
import { createClientAddress, type TrustedProxies } from "../../src/http/client-address.ts";

function warningsOf(trusted: TrustedProxies, forwardedFor: readonly (string | undefined)[]): number {
  let warnings = 0;
  const clientAddress = createClientAddress(trusted, () => {
    warnings += 1;
  });
  for (const header of forwardedFor) clientAddress("192.0.2.1", header);
  return warnings;
}

describe("X-Forwarded-For without TRUSTED_PROXIES", () => {
  it("is reported once", () => {
    expect(warningsOf({ hops: 0 }, [undefined, "198.51.100.7", "198.51.100.8"])).toBe(1);
  });

  it("is not reported when none arrives or a proxy is trusted", () => {
    expect(warningsOf({ hops: 0 }, [undefined, undefined])).toBe(0);
    expect(warningsOf({ hops: 1 }, ["198.51.100.7"])).toBe(0);
    expect(warningsOf({ ranges: ["10.0.0.0/8"] }, ["198.51.100.7"])).toBe(0);
  });
});
