import { isIPv4 } from "node:net";

/** Whether this URL is reachable from this machine only. */
export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  if (hostname === "[::1]" || (isIPv4(hostname) && hostname.startsWith("127."))) return true;
  return hostname === "localhost" || hostname.endsWith(".localhost");
}
