import type { Config } from "./config.ts";
import { isLoopback } from "./loopback.ts";

/**
 * The origins whose pages may write with a person's cookie. On one's own machine the server goes by either name.
 * @param port where it listens
 */
export function ownOrigins({ databaseUrl, appUrl }: Config, port: number): string[] {
  const { origin, hostname } = new URL(appUrl);
  const isLocal = databaseUrl === null ? isLoopback(appUrl) : hostname === "localhost";
  return isLocal ? [origin, `http://localhost:${port}`, `http://127.0.0.1:${port}`] : [origin];
}
