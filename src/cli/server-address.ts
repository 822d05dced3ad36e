import { get } from "node:http";
import { InvalidArgumentError } from "commander";
import type { Config } from "../config/config.ts";

const TIMEOUT_MS = 5_000;

/** The origin of a server on this machine. @throws InvalidArgumentError */
export function loopbackUrl(text: string): string {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol) && !isLoopback(url.hostname)) {
    throw new InvalidArgumentError(
      "Only this machine may be sent load: expected localhost, 127.0.0.1 or [::1].",
    );
  }
  if (url?.protocol === "http:" && isOrigin(url)) return url.origin;
  throw new InvalidArgumentError("Expected an origin, e.g. http://127.0.0.1:3000.");
}

/** The address that a server with this configuration listens on. */
export function ownUrl({ host, port }: Config): string {
  const name = host.includes(":") ? `[${host}]` : host;
  return `http://${isLoopback(name) ? name : "127.0.0.1"}:${port}`;
}

/** @throws Error naming the remedy when no Tollgate answers there */
export async function requireServer(url: string): Promise<void> {
  const status = await statusOf(`${url}/api/health`);
  if (status === null) throw new Error(`nothing listens at ${url}: start the server with script/server`);
  if (status !== 200)
    throw new Error(`what listens at ${url} is not Tollgate: it returned ${status} for /api/health`);
}

function statusOf(url: string): Promise<number | null> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: TIMEOUT_MS }, (incoming) => {
      incoming.resume();
      resolve(incoming.statusCode ?? null);
    });
    request.on("timeout", () => request.destroy());
    request.on("error", () => resolve(null));
    request.on("close", () => resolve(null));
  });
}

function isOrigin({ pathname, search, hash, username, password }: URL): boolean {
  return pathname === "/" && `${search}${hash}${username}${password}` === "";
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}
