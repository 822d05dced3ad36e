import { lookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";

/** What `OUTBOUND_ALLOW` names besides public https addresses. */
export type OutboundAllow = { hosts: ReadonlySet<string>; ranges: BlockList };

/** @param variables hosts, with or without a port, and addresses or CIDRs */
export function outboundAllow(variables: {
  hosts: readonly string[];
  ranges: readonly string[];
}): OutboundAllow {
  const ranges = new BlockList();
  for (const range of variables.ranges) {
    const [network = "", prefix] = range.split("/");
    const family = isIP(network) === 4 ? "ipv4" : "ipv6";
    if (prefix === undefined) ranges.addAddress(network, family);
    else ranges.addSubnet(network, Number(prefix), family);
  }
  return { hosts: new Set(variables.hosts), ranges };
}

export type Address = { address: string; family: 4 | 6 };

/** The special-purpose ranges of the IANA registries, multicast, and what embeds IPv4 addresses. */
const NOT_PUBLIC: readonly [network: string, prefix: number][] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
];

const PUBLIC_V6 = new BlockList();
PUBLIC_V6.addSubnet("2000::", 3, "ipv6");

const NOT_PUBLIC_V6: readonly [network: string, prefix: number][] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

const blocked = new BlockList();
for (const [network, prefix] of NOT_PUBLIC) blocked.addSubnet(network, prefix, "ipv4");
for (const [network, prefix] of NOT_PUBLIC_V6) blocked.addSubnet(network, prefix, "ipv6");

export function isPublicAddress({ address, family }: Address): boolean {
  if (family === 4) return !blocked.check(address, "ipv4");
  return PUBLIC_V6.check(address, "ipv6") && !blocked.check(address, "ipv6");
}

/**
 * `url`: it is malformed. `address`: no event may be sent there. `unresolved`: its name has no address now.
 */
export type TargetProblem = "url" | "address" | "unresolved";

/**
 * Resolves a name once. Whoever connects must use one of these addresses, as the name may have another one a
 * moment later.
 */
export type ResolveHost = (host: string) => Promise<Address[]>;

const resolveHost: ResolveHost = async (host) => (await lookup(host, { all: true })) as Address[];

/** Where to connect for a URL. */
export type ResolvedTarget = { url: URL; addresses: Address[] };

/** Where to connect for this URL, or why it must not be reached. */
export async function resolveTarget(
  text: string,
  allow: OutboundAllow,
  resolve: ResolveHost = resolveHost,
): Promise<ResolvedTarget | { problem: TargetProblem }> {
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "" || url.hostname === "")
    return { problem: "url" };
  if (url.protocol !== "https:" && url.protocol !== "http:") return { problem: "url" };
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const isNamed = allow.hosts.has(host) || allow.hosts.has(url.host);
  const family = isIP(host);
  if (family === 0 && !isNamed && /(^|\.)localhost$/.test(host)) return { problem: "address" };
  const addresses =
    family === 0 ? await resolve(host).catch(() => []) : [{ address: host, family: family as 4 | 6 }];
  if (addresses.length === 0) {
    return { problem: url.protocol === "https:" || isNamed ? "unresolved" : "url" };
  }
  const isListed = (address: Address) => isNamed || isInRanges(allow, address);
  // One private address among public ones is enough to refuse: which one is used would be chance.
  if (!addresses.every((address) => isListed(address) || isPublicAddress(address)))
    return { problem: "address" };
  if (url.protocol === "http:" && !addresses.every(isListed)) return { problem: "url" };
  return { url, addresses };
}

function isInRanges({ ranges }: OutboundAllow, { address, family }: Address): boolean {
  return ranges.check(address, family === 4 ? "ipv4" : "ipv6");
}
