import type { MiddlewareHandler } from "hono";
import { addHeaders } from "./add-headers.ts";
import { headersApplied, responseHeaders } from "./response-headers.ts";

/**
 * What every answer of the API tells browsers and caches. A route that is public or a page sets its own `Cache-Control`
 * or `Content-Security-Policy`, which stays.
 * @param appUrl the public origin
 */
export function securityHeaders(appUrl: string): MiddlewareHandler {
  const headers: [string, string][] = [
    ["x-content-type-options", "nosniff"],
    ["referrer-policy", "no-referrer"],
    ["content-security-policy", "default-src 'none'; frame-ancestors 'none'"],
    ["cross-origin-resource-policy", "same-origin"],
    // Answers are about the person who asks, unless a route says otherwise.
    ["cache-control", "no-store"],
  ];
  // A browser must not be told by an answer over plain HTTP; RFC 6797, section 7.2.
  if (appUrl.startsWith("https://")) headers.push(["strict-transport-security", "max-age=31536000"]);

  return async (c, next) => {
    const head = responseHeaders(c);
    for (const [name, value] of headers) head[name] = value;
    await next();
    if (headersApplied(c)) return;
    addHeaders(c, (present) => {
      for (const [name, value] of headers) if (!present.has(name)) present.set(name, value);
    });
  };
}
