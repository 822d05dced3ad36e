/**
 * The network of a client: the /48 of an IPv6 address, the /24 of an IPv4 address. A client with one address
 * often controls the whole network.
 * @param address as limits count it: IPv4, or an IPv6 /64 such as `2001:db8:0:1::/64`
 */
export function networkOf(address: string): string {
  const octets = /^(\d+\.\d+\.\d+)\.\d+$/.exec(address);
  if (octets) return `${octets[1]}.0/24`;
  const [start, rest] = address.split("::");
  if (start === undefined || rest === undefined) return address;
  const groups = [...start.split(":").filter((group) => group !== ""), "0", "0", "0"].slice(0, 3);
  return `${groups.join(":")}::/48`;
}
