import { get } from "node:http";
import { InvalidArgumentError } from "commander";
import type { Config } from "../config/config.ts";

const ANSWER_WITHIN_MS = 5_000;

/** The origin of a server on this machine. @throws InvalidArgumentError */
export function loopbackUrl(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol !== "http:" || !isOrigin(url)) {
    throw new InvalidArgumentError("expected an origin, e.g. http://127.0.0.1:3000.");
  }
  if (isLoopback(url.hostname)) return url.origin;
  throw new InvalidArgumentError(
    "load is sent to this machine only: expected localhost, 127.0.0.1 or [::1].",
  );
}

/** Where the server of these variables listens. */
export function ownUrl({ host, port }: Config): string {
  const name = host.includes(":") ? `[${host}]` : host;
  return `http://${isLoopback(name) ? name : "127.0.0.1"}:${port}`;
}

/** @throws Error naming the remedy when no Tollgate answers there */
export async function requireServer(url: string): Promise<void> {
  const status = await statusOf(`${url}/api/health`);
  if (status === null) throw new Error(`nothing listens at ${url}: start the server with script/server`);
  if (status !== 200)
    throw new Error(`what listens at ${url} is not Tollgate: it answers ${status} to /api/health`);
}

function statusOf(url: string): Promise<number | null> {
  return new Promise((resolve) => {
    const asking = get(url, { agent: false, timeout: ANSWER_WITHIN_MS }, (incoming) => {
      incoming.resume();
      resolve(incoming.statusCode ?? null);
    });
    asking.on("timeout", () => asking.destroy());
    asking.on("error", () => resolve(null));
    asking.on("close", () => resolve(null));
  });
}

function isOrigin({ pathname, search, hash, username, password }: URL): boolean {
  return pathname === "/" && `${search}${hash}${username}${password}` === "";
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}
