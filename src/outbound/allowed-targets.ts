import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { inRanges } from "../http/in-ranges.ts";

/** What `OUTBOUND_ALLOW` names besides public https addresses. */
export type OutboundAllow = { hosts: ReadonlySet<string>; isInRanges(address: string): boolean };

/** @param variables hosts, with or without a port, and addresses or CIDRs */
export function outboundAllow(variables: {
  hosts: readonly string[];
  ranges: readonly string[];
}): OutboundAllow {
  return { hosts: new Set(variables.hosts), isInRanges: inRanges(variables.ranges) };
}

export type Address = { address: string; family: 4 | 6 };

/** The special-purpose ranges of the IANA registries, multicast, and what embeds IPv4 addresses. */
const isSpecial = inRanges([
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "3fff::/20",
]);

const isGlobalUnicastV6 = inRanges(["2000::/3"]);

export function isPublicAddress({ address, family }: Address): boolean {
  return !isSpecial(address) && (family === 4 || isGlobalUnicastV6(address));
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

export const resolveHost: ResolveHost = async (host) => (await lookup(host, { all: true })) as Address[];

/** Where to connect for a URL. */
export type ResolvedTarget = { url: URL; addresses: Address[] };

/** Where to connect for this URL, or why it must not be reached. */
export async function resolveTarget(
  text: string,
  allow: OutboundAllow,
  resolve: ResolveHost = resolveHost,
): Promise<ResolvedTarget | { problem: TargetProblem }> {
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "") return { problem: "url" };
  if (url.protocol !== "https:" && url.protocol !== "http:") return { problem: "url" };
  // Nothing can listen there.
  if (url.port === "0") return { problem: "url" };
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  // A parsed URL leaves out its scheme's default port.
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  const isNamed = allow.hosts.has(host) || allow.hosts.has(`${host}:${port}`);
  const family = isIP(host);
  if (!isNamed && /(^|\.)localhost$/.test(host)) return { problem: "address" };
  const addresses =
    family === 0 ? await resolve(host).catch(() => []) : [{ address: host, family: family as 4 | 6 }];
  if (addresses.length === 0) {
    return { problem: url.protocol === "https:" || isNamed ? "unresolved" : "url" };
  }
  const isListed = ({ address }: Address) => isNamed || allow.isInRanges(address);
  // One private address among public ones is enough to refuse: which one is used would be chance.
  if (!addresses.every((address) => isListed(address) || isPublicAddress(address)))
    return { problem: "address" };
  if (url.protocol === "http:" && !addresses.every(isListed)) return { problem: "url" };
  return { url, addresses };
}
