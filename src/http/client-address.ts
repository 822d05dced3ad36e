import { isIP, isIPv4, isIPv6 } from "node:net";
import { inRanges } from "./in-ranges.ts";

/** The proxies whose `X-Forwarded-For` is trusted: the nearest `hops`, or those in the ranges. */
export type TrustedProxies = { hops: number } | { ranges: readonly string[] };

/** Requests whose connection is already closed share one key. */
const UNKNOWN = "unknown";

/**
 * The client's address as limits count it: IPv4, or the /64 of an IPv6 address, in canonical form.
 * `X-Forwarded-For` is read from the right through trusted proxies. `Forwarded` is ignored: proxies that
 * write one header pass a client's own copy of the other.
 */
export type ClientAddress = (socketAddress: string | undefined, forwardedFor: string | undefined) => string;

/**
 * @param onIgnored called once when `X-Forwarded-For` arrives without a trusted proxy: limits then count the
 * proxy's address
 */
export function createClientAddress(
  trusted: TrustedProxies,
  onIgnored: () => void = () => {},
): ClientAddress {
  const isTrusted = trustIn(trusted);
  let isReported = !("hops" in trusted && trusted.hops === 0);
  return (socketAddress, forwardedFor) => {
    if (forwardedFor !== undefined && !isReported) {
      isReported = true;
      onIgnored();
    }
    const connected = socketAddress === undefined ? null : plainAddress(socketAddress);
    if (connected === null) return UNKNOWN;
    return network(forwardedFor ? sender(connected, forwardedFor, isTrusted) : connected);
  };
}

type Trust = (address: string, hop: number) => boolean;

/** The nearest address that is not a trusted proxy, or the furthest known. */
function sender(connected: string, forwardedFor: string, isTrusted: Trust): string {
  let address = connected;
  let hop = 0;
  let end = forwardedFor.length;
  while (end > 0 && isTrusted(address, hop)) {
    const comma = forwardedFor.lastIndexOf(",", end - 1);
    const entry = forwardedFor.slice(comma + 1, end).trim();
    end = comma;
    if (entry === "") continue;
    const before = forwardedAddress(entry);
    // The entry is not an address: the proxy that wrote it is the last one known.
    if (before === null) break;
    address = before;
    hop++;
  }
  return address;
}

/** @returns whether to trust the proxy at `address`, `hop` proxies away from the connection */
function trustIn(trusted: TrustedProxies): Trust {
  if ("hops" in trusted) return (_, hop) => hop < trusted.hops;
  return inRanges(trusted.ranges);
}

/** Strips the port and the brackets of an IPv6 address. */
function forwardedAddress(entry: string): string | null {
  const bracketed = /^\[([^\]]{2,60})\](?::\d{1,5})?$/.exec(entry);
  if (bracketed) return isIPv6(bracketed[1] as string) ? plainAddress(bracketed[1] as string) : null;
  const withPort = /^([\d.]{7,15}):\d{1,5}$/.exec(entry);
  return plainAddress(withPort ? (withPort[1] as string) : entry);
}

/** `::ffff:0:0/96`, the form in which IPv6 sockets show IPv4 addresses. RFC 4291. */
const MAPPED = [0, 0, 0, 0, 0, 0xffff];
/**
 * `64:ff9b::/96`, in which a translator (NAT64) shows clients with IPv4 to a server without: all of them are in one /64.
 * RFC 6052.
 */
const TRANSLATED = [0x64, 0xff9b, 0, 0, 0, 0];

/** Without the zone, which is local, and mapped IPv4 as IPv4; `null`: not an address. */
function plainAddress(text: string): string | null {
  const family = isIP(text);
  if (family !== 6) return family === 4 ? text : null;
  // The usual text of it; the general parser costs ten times as much.
  if (text.startsWith("::ffff:") && isIPv4(text.slice(7))) return text.slice(7);
  const address = withoutZone(text);
  return ipv4Within(groupsOf(address), MAPPED) ?? address;
}

/** The IPv4 address at the end of one that has this prefix. */
function ipv4Within(groups: readonly number[], prefix: readonly number[]): string | null {
  if (!prefix.every((group, index) => group === groups[index])) return null;
  const [high = 0, low = 0] = groups.slice(6);
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

function withoutZone(address: string): string {
  const zone = address.indexOf("%");
  return zone === -1 ? address : address.slice(0, zone);
}

/**
 * The /64: the smallest network that one client has, so that limiting single IPv6 addresses has no effect. RFC 5952 text.
 * Only here is a translated address IPv4: it is no proxy's, whatever its IPv4 address.
 */
function network(address: string): string {
  if (!address.includes(":")) return address;
  const all = groupsOf(address);
  const translated = ipv4Within(all, TRANSLATED);
  if (translated !== null) return translated;
  const groups = all.slice(0, 4);
  while (groups.at(-1) === 0) groups.pop();
  return `${groups.map((group) => group.toString(16)).join(":")}::/64`;
}

/** The eight groups. @param address valid IPv6, without a zone */
function groupsOf(address: string): number[] {
  const [head, tail] = address.split("::") as [string, string | undefined];
  const first = parseGroups(head);
  if (tail === undefined) return first;
  const last = parseGroups(tail);
  return [...first, ...new Array(8 - first.length - last.length).fill(0), ...last];
}

function parseGroups(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    if (!group.includes(".")) return Number.parseInt(group, 16);
    const [a = 0, b = 0, c = 0, d = 0] = group.split(".").map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}
