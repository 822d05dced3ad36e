import { describe, expect, it } from "vitest";
import {
  type Address,
  isPublicAddress,
  outboundAllow,
  type ResolvedTarget,
  resolveTarget,
} from "../../src/outbound/allowed-targets.ts";
import { openEndpointConnections } from "../../src/outbound/endpoint-connections.ts";
import { postEvent } from "../../src/outbound/post-event.ts";
import { newEndpointSecret } from "../../src/outbound/sign.ts";
import { startReceiver } from "./receiver.ts";

const NOTHING = outboundAllow({ hosts: [], ranges: [] });

function resolvesTo(...addresses: string[]) {
  return async (): Promise<Address[]> =>
    addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
}

async function problemOf(url: string, allow = NOTHING, resolve = resolvesTo("93.184.215.14")) {
  const target = await resolveTarget(url, allow, resolve);
  return "problem" in target ? target.problem : null;
}

describe("an address", () => {
  it.each([
    "0.0.0.0",
    "10.1.2.3",
    "10.255.255.255",
    "100.64.0.1",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "192.168.255.255",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.7",
    "203.0.113.9",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::a00:1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "3fff::1",
    "fc00::1",
    "fd12::1",
    "fe80::1",
    "ff02::1",
  ])("is not public: %s", (address) => {
    expect(isPublicAddress({ address, family: address.includes(":") ? 6 : 4 })).toBe(false);
  });

  it.each(["1.1.1.1", "93.184.215.14", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450::1"])(
    "is public: %s",
    (address) => {
      expect(isPublicAddress({ address, family: address.includes(":") ? 6 : 4 })).toBe(true);
    },
  );
});

describe("a URL", () => {
  it.each([
    "http://example.com/",
    "https://example.com:0/",
    "ftp://example.com/",
    "file:///etc/passwd",
    "example.com",
    "",
    "https://",
    "javascript:alert(1)",
    "https://user:secret@example.com/",
    "https://user@example.com/",
    "https://:secret@example.com/",
  ])("is refused for its form: %j", async (url) => {
    expect(await problemOf(url)).toBe("url");
  });

  it.each([
    "https://127.0.0.1/",
    "https://127.1/",
    "https://0x7f000001/",
    "https://2130706433/",
    "https://0177.0.0.1/",
    "https://[::1]/",
    "https://[::ffff:7f00:1]/",
    "https://[fd00::1]/",
    "https://169.254.169.254/latest/meta-data",
    "https://10.0.0.1:8443/",
    "https://localhost/",
    "https://app.localhost/",
    "https://localhost./",
  ])("is refused for its address: %s", async (url) => {
    expect(await problemOf(url)).toBe("address");
  });

  it("is refused when any of its name's addresses is private", async () => {
    expect(await problemOf("https://example.com/", NOTHING, resolvesTo("93.184.215.14", "10.0.0.1"))).toBe(
      "address",
    );
  });

  it("is accepted over https with public addresses, which are those to connect to", async () => {
    const target = await resolveTarget("https://example.com/hook", NOTHING, resolvesTo("93.184.215.14"));
    expect(target).toMatchObject({ addresses: [{ address: "93.184.215.14", family: 4 }] });
  });

  it("reports a host name without an address apart from a refused one", async () => {
    expect(await problemOf("https://example.com/", NOTHING, resolvesTo())).toBe("unresolved");
    const fails = () => Promise.reject(new Error("getaddrinfo EAI_AGAIN example.com"));
    expect(await problemOf("https://example.com/", NOTHING, fails)).toBe("unresolved");
  });

  it("over http is refused for its form when its name has no address, unless OUTBOUND_ALLOW lists it", async () => {
    const allow = outboundAllow({ hosts: ["hooks.internal"], ranges: ["10.0.0.0/8"] });
    expect(await problemOf("http://hooks.internal/", allow, resolvesTo())).toBe("unresolved");
    expect(await problemOf("http://example.com/", allow, resolvesTo())).toBe("url");
  });

  it("is resolved by the system to addresses of its name", async () => {
    const allow = outboundAllow({ hosts: ["localhost"], ranges: [] });
    const target = await resolveTarget("http://localhost:8080/", allow);
    const { addresses } = target as ResolvedTarget;
    expect(addresses).not.toEqual([]);
    for (const address of addresses)
      expect([
        { address: "127.0.0.1", family: 4 },
        { address: "::1", family: 6 },
      ]).toContainEqual(address);
  });

  it("is accepted when OUTBOUND_ALLOW lists its host, port or range, also over http", async () => {
    const allow = outboundAllow({
      hosts: ["hooks.internal", "localhost:8080"],
      ranges: ["10.0.0.0/8", "fd00::/8"],
    });
    expect(await problemOf("http://hooks.internal/", allow, resolvesTo("192.168.0.9"))).toBe(null);
    expect(await problemOf("http://localhost:8080/", allow, resolvesTo("127.0.0.1"))).toBe(null);
    expect(await problemOf("http://localhost:8081/", allow, resolvesTo("127.0.0.1"))).toBe("address");
    expect(await problemOf("http://10.1.2.3/", allow)).toBe(null);
    expect(await problemOf("https://[fd00::5]/", allow)).toBe(null);
    expect(await problemOf("http://11.1.2.3/", allow)).toBe("url");
    // In clear to an address that is not listed.
    expect(await problemOf("http://example.com/", allow, resolvesTo("10.1.2.3", "11.1.2.3"))).toBe("url");
    expect(await problemOf("http://192.168.0.1/", allow)).toBe("address");
  });

  it("is accepted when OUTBOUND_ALLOW lists its host with the scheme's own port, and only with that scheme", async () => {
    const allow = outboundAllow({ hosts: ["hooks.internal:443", "plain.internal:80"], ranges: [] });
    const problem = (url: string) => problemOf(url, allow, resolvesTo("192.168.0.9"));
    expect(await problem("https://hooks.internal/")).toBe(null);
    expect(await problem("https://hooks.internal:443/")).toBe(null);
    expect(await problem("http://plain.internal/")).toBe(null);
    expect(await problem("http://hooks.internal/")).toBe("address");
    expect(await problem("https://plain.internal/")).toBe("address");
  });
});

describe("an event", () => {
  it("goes to the address that was checked: resolves the name once, and reuses no connection to another address", async () => {
    const receiver = await startReceiver();
    const connections = openEndpointConnections();
    const { port } = new URL(receiver.url);
    // No resolver knows this name.
    const endpoint = { url: `http://rebinding.invalid:${port}/hook`, secrets: [newEndpointSecret()] };
    const allow = outboundAllow({ hosts: [], ranges: ["127.0.0.0/8"] });
    const postTo = (address: string) =>
      postEvent(
        endpoint,
        { id: "evt_1", body: "{}" },
        {
          allow,
          now: Date.now,
          connections,
          resolve: resolvesTo(address),
        },
      );
    expect(await postTo("127.0.0.1")).toMatchObject({ isDelivered: true, error: null });
    expect(await postTo("127.0.0.2")).toMatchObject({ isDelivered: false, responseStatus: null });
    expect(await postTo("10.0.0.1")).toMatchObject({ error: expect.stringContaining("not public") });
    expect(receiver.received).toHaveLength(1);
    connections.close();
    await receiver.close();
  });
});
