import { get } from "node:http";

/**
 * Exits 0 when the server on this machine is ready, for container engines and supervisors, which give it the
 * server's HOST and PORT: node script/health-check.ts
 */
const LOOPBACK: Record<string, string> = { "0.0.0.0": "127.0.0.1", "::": "::1" };
const host = process.env.HOST?.trim() || "127.0.0.1";
const port = process.env.PORT?.trim() || "3000";
// Not `fetch`, which refuses some ports, such as 10080.
get(
  { host: LOOPBACK[host] ?? host, port, path: "/api/ready", signal: AbortSignal.timeout(2_500) },
  ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1),
).on("error", () => process.exit(1));
