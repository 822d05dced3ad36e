import { isIP } from "node:net";
import type { Context, MiddlewareHandler } from "hono";

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);
const EVERY_ADDRESS = new Set(["0.0.0.0", "::"]);

/**
 * Allows only requests to this machine's own host names from its own pages. A foreign name may resolve to
 * this machine (DNS rebinding), and a cross-origin write is a form on somebody else's page.
 * @param host where the simulator listens
 */
export function guardPages(host: string): MiddlewareHandler {
  return async (c, next) => {
    const hostHeader = c.req.header("host") ?? "";
    if (!isOwnName(hostHeader, host)) return c.text("This is not the name of the simulator.\n", 421);
    if (c.req.method !== "GET" && c.req.method !== "HEAD" && isForeign(c.req.raw.headers, hostHeader)) {
      return c.text("A form of another site is not taken.\n", 403);
    }
    await next();
    setHeaders(c);
    return undefined;
  };
}

function setHeaders(c: Context): void {
  c.header("X-Content-Type-Options", "nosniff");
  c.header("X-Frame-Options", "DENY");
  c.header("Cache-Control", "no-store");
  // Browsers omit the origin of a form when the page's referrer policy forbids it.
  c.header("Referrer-Policy", "same-origin");
  c.header(
    "Content-Security-Policy",
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
  );
}

function isOwnName(hostHeader: string, host: string): boolean {
  const name = URL.parse(`http://${hostHeader}`)?.hostname ?? "";
  const ownHost = host.includes(":") ? `[${host}]` : host;
  const isAddress = isIP(name.replace(/^\[|\]$/g, "")) !== 0;
  return LOOPBACK.has(name) || name === ownHost || (EVERY_ADDRESS.has(host) && isAddress);
}

function isForeign(headers: Headers, hostHeader: string): boolean {
  const site = headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none") return true;
  const origin = headers.get("origin");
  return origin !== null && origin !== `http://${hostHeader}`;
}
