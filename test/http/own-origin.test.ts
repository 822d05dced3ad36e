import { describe, expect, it } from "vitest";
import { isCrossOrigin } from "../../src/http/origin-check.ts";

const OWN = ["http://localhost:3000", "http://127.0.0.1:3000", "https://app.example.com"];

function isForeign(request: {
  site?: string;
  origin?: string;
  method?: string;
  byCookie?: boolean;
}): boolean {
  const { site, origin, method = "POST", byCookie = true } = request;
  return isCrossOrigin({ method, secFetchSite: site, origin, byCookie }, () => OWN);
}

describe("a write by cookie", () => {
  it.each([
    ["without a browser", {}],
    ["from our own page", { site: "same-origin", origin: "http://localhost:3000" }],
    ["from the other name of our own", { origin: "http://127.0.0.1:3000" }],
    ["from our public origin", { site: "same-origin", origin: "https://app.example.com" }],
    ["typed in by the person", { site: "none" }],
    ["from a browser that says only where it is", { site: "same-origin" }],
  ])("is accepted %s", (_, request) => {
    expect(isForeign(request)).toBe(false);
  });

  it.each([
    ["cross-site", { site: "cross-site" }],
    ["same-site: another of the domain's hosts", { site: "same-site" }],
    ["a site that there is not", { site: "Same-Origin" }],
    ["an empty site", { site: "" }],
    ["two sites", { site: "same-origin, cross-site" }],
    ["cross-site, although the origin is ours", { site: "cross-site", origin: OWN[0] as string }],
    ["a foreign origin, although the site is ours", { site: "same-origin", origin: "https://evil.example" }],
    ["another origin", { origin: "https://evil.example" }],
    ["no origin that could be told", { origin: "null" }],
    ["an empty origin", { origin: "" }],
    ["another port", { origin: "http://localhost:3001" }],
    ["the scheme's own port", { origin: "http://localhost" }],
    ["another scheme", { origin: "https://localhost:3000" }],
    ["ours as a prefix", { origin: "http://localhost:3000.evil.example" }],
    ["ours as a suffix", { origin: "https://evil-app.example.com" }],
    ["ours as a name below", { origin: "https://app.example.com.evil.example" }],
    ["a host below ours", { origin: "https://x.app.example.com" }],
    ["ours as a person", { origin: "https://app.example.com@evil.example" }],
    ["a path", { origin: "https://app.example.com/" }],
    ["a dot at the end", { origin: "https://app.example.com." }],
    ["two origins", { origin: "https://app.example.com, https://evil.example" }],
  ])("is rejected: %s", (_, request) => {
    expect(isForeign(request)).toBe(true);
  });

  it.each(["POST", "PUT", "PATCH", "DELETE", "QUERY", "TRACE", "get", "PROPFIND"])("is any %s", (method) => {
    expect(isForeign({ method, site: "cross-site" })).toBe(true);
  });

  it.each(["GET", "HEAD", "OPTIONS"])("is never a %s", (method) => {
    expect(isForeign({ method, site: "cross-site", origin: "https://evil.example" })).toBe(false);
  });

  it("is not checked when a key is presented", () => {
    expect(isForeign({ byCookie: false, site: "cross-site", origin: "https://evil.example" })).toBe(false);
  });
});
