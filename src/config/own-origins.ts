import type { Config } from "./config.ts";
import { isLoopback } from "./loopback.ts";

/**
 * The origins whose pages may write with a user's cookie. On a local machine both loopback names are
 * accepted.
 * @param port where it listens
 */
export function ownOrigins({ databaseUrl, appUrl }: Config, port: number): string[] {
  const { origin, hostname } = new URL(appUrl);
  const isLocal = databaseUrl === null ? isLoopback(appUrl) : hostname === "localhost";
  if (!isLocal) return [origin];
  // A browser leaves out the default port.
  const local = ["localhost", "127.0.0.1"].map((host) => new URL(`http://${host}:${port}`).origin);
  return [origin, ...local];
}
