import type { Context, MiddlewareHandler } from "hono";
import { addHeaders } from "./add-headers.ts";
import { headersApplied, responseHeaders } from "./response-headers.ts";

const ALLOWED_METHODS = "GET, POST, PUT, PATCH, DELETE";
const ALLOWED_HEADERS = [
  ...["Authorization", "X-API-Key", "Content-Type", "If-None-Match", "Last-Event-ID", "X-API-Version"],
  // Of tRPC's streaming link.
  "trpc-accept",
].join(", ");
const EXPOSED_HEADERS = [
  ...["X-Request-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"],
  ...["RateLimit", "RateLimit-Policy", "Retry-After", "ETag", "X-API-Version"],
  ...["Deprecation", "Sunset", "Link"],
].join(", ");
const PREFLIGHT_SECONDS = 600;

/** Called by providers, or with cookies: never by another origin's pages. */
const EXCLUDED = /^\/api\/(?:webhooks|auth|cron|metrics)(?:\/|$)/;

/**
 * Lets pages of these origins read responses, and send API keys. Never cookies: credentials are not allowed,
 * so that browsers withhold a response to a request with cookies.
 * @param origins as browsers write them
 */
export function cors(origins: readonly string[]): MiddlewareHandler {
  const allowed = new Set(origins);
  return async (c, next) => {
    if (allowed.size === 0 || EXCLUDED.test(c.req.path)) return next();
    const origin = c.req.header("origin");
    const headers: [string, string][] = [["vary", "Origin"]];
    if (origin !== undefined && allowed.has(origin)) {
      headers.push(["access-control-allow-origin", origin]);
      headers.push(["access-control-expose-headers", EXPOSED_HEADERS]);
    }
    const head = responseHeaders(c);
    for (const [name, value] of headers) head[name] = value;
    await next();
    if (headersApplied(c)) return;
    addHeaders(c, (existing) => {
      for (const [name, value] of headers) {
        if (name === "vary") existing.append(name, value);
        else existing.set(name, value);
      }
    });
  };
}

/** Answers preflights of these origins; others' are answered like any OPTIONS. */
export function preflights(origins: readonly string[]): MiddlewareHandler {
  const isAllowed = preflightMatcher(origins);
  return async (c, next) => {
    if (!isAllowed(c)) return next();
    return c.body(null, 204, {
      "access-control-allow-methods": ALLOWED_METHODS,
      "access-control-allow-headers": ALLOWED_HEADERS,
      "access-control-max-age": String(PREFLIGHT_SECONDS),
      vary: "Access-Control-Request-Method, Access-Control-Request-Headers",
    });
  };
}

/** Whether a request is a preflight of one of these origins. */
export function preflightMatcher(origins: readonly string[]): (c: Context) => boolean {
  const allowed = new Set(origins);
  return (c) => isPreflight(c) && !EXCLUDED.test(c.req.path) && allowed.has(c.req.header("origin") ?? "");
}

function isPreflight(c: Context): boolean {
  return c.req.method === "OPTIONS" && c.req.header("access-control-request-method") !== undefined;
}
