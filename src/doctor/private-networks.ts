import { BlockList, isIP } from "node:net";

/** Inside one machine or a private network, encryption is the operator's choice. */
export const PRIVATE_NETWORKS: readonly string[] = [
  ...["127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16"],
  ...["::1/128", "fc00::/7", "fe80::/10"],
];

const list = new BlockList();
for (const network of PRIVATE_NETWORKS) {
  const [address = "", bits] = network.split("/");
  list.addSubnet(address, Number(bits), isIP(address) === 6 ? "ipv6" : "ipv4");
}

/** Whether a host is in one, by its address or by a name that only there exists. */
export function isPrivateHost(host: string): boolean {
  const family = isIP(host);
  if (family !== 0) return list.check(host, family === 6 ? "ipv6" : "ipv4");
  return !host.includes(".") || /\.(internal|local|lan|localhost)$/.test(host);
}
