import { isIPv4 } from "node:net";

/** Whether only this machine can reach what is at this URL. */
export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  if (hostname === "[::1]" || (isIPv4(hostname) && hostname.startsWith("127."))) return true;
  return hostname === "localhost" || hostname.endsWith(".localhost");
}
