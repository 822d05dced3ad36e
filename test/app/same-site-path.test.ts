import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sameSitePath, signInPath } from "../../src/app/gate/same-site-path.ts";

const OTHERWISE = "/otherwise";
const OURS = "https://tollgate.example";

/** Where a browser on the sign-in page navigates to for this path. */
function goes(path: string): URL {
  return new URL(path, `${OURS}/sign-in`);
}

describe("the redirect after sign-in", () => {
  it.each([
    ["/", "/"],
    ["/settings", "/settings"],
    ["/admin/users?search=ada%40example.com&role=admin", "/admin/users?search=ada%40example.com&role=admin"],
    ["/billing?next=//evil.example", "/billing?next=%2F%2Fevil.example"],
    ["/a//b", "/a//b"],
    ["/@evil.example", "/@evil.example"],
    ["/%2F%2Fevil.example", "/%2F%2Fevil.example"],
    ["/%09/evil.example", "/%09/evil.example"],
    ["/käse?q=名", "/k%C3%A4se?q=%E5%90%8D"],
    ["/notifications#newest", "/notifications"],
    ["/settings?_rsc=abc", "/settings"],
    ["/settings?x=1&_rsc=abc", "/settings?x=1"],
  ])("accepts %j, which is on this site", (target, path) => {
    expect(sameSitePath(target, OTHERWISE)).toBe(path);
    expect(goes(path).origin).toBe(OURS);
  });

  it.each([
    "//evil.example",
    "/verify-email%3",
    "/%",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "\\/evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "\t//evil.example",
    " //evil.example",
    "/settings\\..\\\\evil.example",
    "/.//evil.example",
    "/settings/..//evil.example",
    "/%2e//evil.example",
    "https://evil.example/settings",
    "https:/evil.example",
    "https:evil.example",
    "http://localhost@evil.example/",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "data:text/html,hello",
    "@evil.example",
    "evil.example",
    "settings",
    "?next=/settings",
    "\uFF0F\uFF0Fevil.example",
    "\u2044\u2044evil.example",
    "",
    null,
    undefined,
  ])("rejects %j", (target) => {
    expect(sameSitePath(target, OTHERWISE)).toBe(OTHERWISE);
  });

  it("is a path of this site for any input", () => {
    const pieces = fc.constantFrom(
      ...["/", "\\", "//", ".", "..", "%2e", "%2f", "%5c", "%09", "\t", "\n", "\r", "\0", " ", "@", ":"],
      ...["?", "#", "evil.example", "https:", "javascript:", "settings", "\uFF0F", "\u2028", "\uD800"],
    );
    const hostile = fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(fc.oneof(hostile, fc.string({ unit: "binary" }), fc.webUrl()), (target) => {
        const path = sameSitePath(target, OTHERWISE);
        expect(path).toMatch(/^\/(?![/\\])[\x21-\x7e]*$/);
        expect(goes(path).origin).toBe(OURS);
      }),
      { numRuns: 5_000 },
    );
  });

  it("is unchanged when it is checked again", () => {
    const paths = fc.webPath().map((path) => `/${path}`);
    fc.assert(
      fc.property(paths, (target) => {
        const once = sameSitePath(target, OTHERWISE);
        expect(sameSitePath(once, OTHERWISE)).toBe(once);
      }),
    );
  });

  it("is computed quickly for a very long input", () => {
    for (const piece of ["/", "/..", "/\u0000", "%2e%2e/", "a", "\\", "/a?b="]) {
      sameSitePath(`/${piece.repeat(200_000)}`, OTHERWISE);
    }
  });
});

describe("the link to the sign-in page", () => {
  it("contains the page to return to", () => {
    expect(signInPath("/billing?plan=pro&seats=3")).toBe("/sign-in?next=%2Fbilling%3Fplan%3Dpro%26seats%3D3");
    const { searchParams } = goes(signInPath("/billing?plan=pro&seats=3"));
    expect(sameSitePath(searchParams.get("next"), OTHERWISE)).toBe("/billing?plan=pro&seats=3");
  });

  it("omits the default page and pages of other sites", () => {
    expect(signInPath("/dashboard")).toBe("/sign-in");
    expect(signInPath("//evil.example")).toBe("/sign-in");
  });
});
