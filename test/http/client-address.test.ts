import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createClientAddress } from "../../src/http/client-address.ts";

const PROXY = "10.0.0.9";

describe("the client's address", () => {
  const direct = createClientAddress({ hops: 0 });

  it.each([
    ["203.0.113.7", "203.0.113.7"],
    ["::ffff:203.0.113.7", "203.0.113.7"],
    ["::ffff:cb00:7107", "203.0.113.7"],
    ["::FFFF:cb00:7107", "203.0.113.7"],
    ["0:0:0:0:0:ffff:203.0.113.7", "203.0.113.7"],
    ["64:ff9b::203.0.113.7", "203.0.113.7"],
    ["64:FF9B:0:0:0:0:cb00:7107", "203.0.113.7"],
    ["64:ff9b:1::cb00:7107", "64:ff9b:1::/64"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:0DB8:0001:0002::1", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8::/64"],
    ["2001:db8:0:1::", "2001:db8:0:1::/64"],
    ["0:0:0:1::", "0:0:0:1::/64"],
    ["fe80::1%eth0", "fe80::/64"],
    ["fe80::2%eth1", "fe80::/64"],
    ["::1", "::/64"],
    ["1:2:3:4:5:6:1.2.3.4", "1:2:3:4::/64"],
    [undefined, "unknown"],
    ["", "unknown"],
  ])("reads %s as %s", (socket, expected) => {
    expect(direct(socket, undefined)).toBe(expected);
  });

  it("is the same for all addresses of one /64", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (host) => {
        const groups = [48n, 32n, 16n, 0n].map((shift) => ((host >> shift) & 0xffffn).toString(16)).join(":");
        expect(direct(`2001:db8:1:2:${groups}`, undefined)).toBe("2001:db8:1:2::/64");
        expect(direct(`2001:db8:1:3:${groups}`, undefined)).toBe("2001:db8:1:3::/64");
      }),
    );
  });

  it("is the connection's address unless a proxy is trusted", () => {
    expect(direct("203.0.113.7", "1.2.3.4")).toBe("203.0.113.7");
    expect(createClientAddress({ ranges: [] })("203.0.113.7", "1.2.3.4")).toBe("203.0.113.7");
    expect(createClientAddress({ ranges: ["10.0.0.0/8"] })("203.0.113.7", "1.2.3.4")).toBe("203.0.113.7");
  });

  it.each([
    ["one entry", 1, "198.51.100.1", "198.51.100.1"],
    ["what the client made up before it", 1, "6.6.6.6, 198.51.100.1", "198.51.100.1"],
    ["two proxies", 2, "198.51.100.1, 10.0.0.8", "198.51.100.1"],
    ["two proxies and a forgery", 2, "6.6.6.6, 198.51.100.1, 10.0.0.8", "198.51.100.1"],
    ["fewer entries than hops", 3, "198.51.100.1", "198.51.100.1"],
    ["no header", 1, undefined, PROXY],
    ["an empty header", 1, "", PROXY],
    ["empty entries", 1, ", ,198.51.100.1 ,,", "198.51.100.1"],
    ["commas alone", 2, ",,,", PROXY],
    ["junk from the proxy", 1, "198.51.100.1, unknown", PROXY],
    ["junk from the proxy behind", 2, "198.51.100.1, _hidden, 10.0.0.8", "10.0.0.8"],
    ["a port", 1, "198.51.100.1:4711", "198.51.100.1"],
    ["an IPv6 address", 1, "2001:db8:1:2::9", "2001:db8:1:2::/64"],
    ["an IPv6 address in brackets", 1, "[2001:db8:1:2::9]", "2001:db8:1:2::/64"],
    ["an IPv6 address with a port", 1, "[2001:db8:1:2::9]:443", "2001:db8:1:2::/64"],
    ["an IPv6 address with a zone", 1, "fe80::1%eth0", "fe80::/64"],
    ["a mapped address", 1, "::ffff:198.51.100.1", "198.51.100.1"],
    ["a mapped address in brackets", 1, "[::ffff:198.51.100.1]:1", "198.51.100.1"],
    ["IPv4 in brackets", 1, "[198.51.100.1]", PROXY],
    ["a port that is none", 1, "198.51.100.1:x", PROXY],
    ["leading zeros", 1, "198.051.100.001", PROXY],
    ["one number", 1, "3325256705", PROXY],
    ["quotes", 1, '"198.51.100.1"', PROXY],
    ["RFC 7239", 1, "for=198.51.100.1", PROXY],
    ["an address and more", 1, "198.51.100.1 6.6.6.6", PROXY],
  ])("with a number of trusted proxies: %s", (_, hops, forwardedFor, expected) => {
    expect(createClientAddress({ hops })(PROXY, forwardedFor)).toBe(expected);
  });

  const ranges = [
    "10.0.0.0/8",
    "192.0.2.1",
    "fd00::/8",
    "2001:db8:ffff::1",
    "fe80::1%eth0",
    "::ffff:172.16.0.0/108",
    "64:ff9b::cb00:7101",
  ];

  it.each([
    ["one proxy", PROXY, "198.51.100.1", "198.51.100.1"],
    ["a forgery", PROXY, "6.6.6.6, 198.51.100.1", "198.51.100.1"],
    ["a forged proxy", PROXY, "6.6.6.6, 10.1.1.1, 198.51.100.1", "198.51.100.1"],
    ["several proxies", PROXY, "6.6.6.6, 198.51.100.1, 192.0.2.1, 10.7.7.7", "198.51.100.1"],
    ["proxies alone", PROXY, "10.1.1.1, 10.2.2.2", "10.1.1.1"],
    ["a mapped socket", "::ffff:10.0.0.9", "198.51.100.1", "198.51.100.1"],
    ["a mapped entry", PROXY, "198.51.100.1, ::ffff:10.0.0.8", "198.51.100.1"],
    ["a range that is mapped", "172.16.3.4", "198.51.100.1", "198.51.100.1"],
    ["an IPv6 proxy", "fd00::1", "198.51.100.1", "198.51.100.1"],
    ["a single IPv6 proxy", "2001:db8:ffff::1", "198.51.100.1", "198.51.100.1"],
    ["its neighbour in the same /64", "2001:db8:ffff::2", "198.51.100.1", "2001:db8:ffff::/64"],
    ["a proxy on the link", "fe80::1%eth0", "198.51.100.1", "198.51.100.1"],
    ["a proxy behind a translator", "64:ff9b::203.0.113.1", "198.51.100.1", "198.51.100.1"],
    ["a translated address like a proxy's", "64:ff9b::10.0.0.1", "198.51.100.1", "10.0.0.1"],
    ["a neighbour of the single address", "192.0.2.2", "198.51.100.1", "192.0.2.2"],
    ["junk", PROXY, "198.51.100.1, junk", PROXY],
    ["junk behind another proxy", PROXY, "198.51.100.1, junk, 10.3.3.3", "10.3.3.3"],
  ])("with ranges of trusted proxies: %s", (_, socket, forwardedFor, expected) => {
    expect(createClientAddress({ ranges })(socket, forwardedFor)).toBe(expected);
  });

  it("is not taken from entries that the client put before the proxy's", () => {
    const addresses = [createClientAddress({ hops: 1 }), createClientAddress({ ranges })];
    const forged = fc.oneof(
      fc.string({ unit: "binary" }),
      fc
        .array(fc.oneof(fc.ipV4(), fc.ipV6(), fc.constant("10.0.0.1"), fc.string()))
        .map((all) => all.join(", ")),
    );
    fc.assert(
      fc.property(forged, (header) => {
        for (const address of addresses) {
          expect(address(PROXY, `${header}, 198.51.100.1`)).toBe("198.51.100.1");
        }
      }),
    );
  });

  it("is an address or a /64 for any header", () => {
    const address = createClientAddress({ hops: 3 });
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.ipV6(), fc.ipV4(), fc.ipV4Extended()), (header) => {
        expect(address(PROXY, header)).toMatch(/^(\d{1,3}(\.\d{1,3}){3}|[0-9a-f:]+::\/64|::\/64)$/);
      }),
    );
  });

  it("is found quickly in the longest possible header", () => {
    const address = createClientAddress({ ranges: ["0.0.0.0/0"] });
    expect(address(PROXY, `198.51.100.1,${"9.9.9.9,".repeat(2_000)}`)).toBe("198.51.100.1");
    expect(address(PROXY, ",".repeat(16_000))).toBe(PROXY);
  });
});
