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
  return isLocal ? [origin, `http://localhost:${port}`, `http://127.0.0.1:${port}`] : [origin];
}
