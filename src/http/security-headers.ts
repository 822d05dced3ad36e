import type { MiddlewareHandler } from "hono";
import { addHeaders } from "./add-headers.ts";
import { headersApplied, responseHeaders } from "./response-headers.ts";

/** For responses that load nothing: everything except pages. */
export const NO_CONTENT_POLICY = "default-src 'none'; frame-ancestors 'none'";

/** A page's policy: its own scripts and styles, and no framing by other sites. */
export function contentSecurityPolicy(nonce: string, appUrl: string): string {
  return [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    ...(appUrl.startsWith("https://") ? ["upgrade-insecure-requests"] : []),
  ].join("; ");
}

/**
 * In the address of a page that a mailed link opens. Proxies log the `Referer` of each script and style that it loads,
 * which must not reveal a link that sets a password.
 */
const SECRET_PARAMETER = /[?&]token=/;

/**
 * Every response outside `/api`.
 * @param url of the page, with its query
 */
export function pageHeaders(
  policy: string,
  { appUrl, url }: { appUrl: string; url: string },
): [string, string][] {
  return [
    ["content-security-policy", policy],
    // Not "no-referrer": browsers would send "Origin: null" with our own forms.
    ["referrer-policy", SECRET_PARAMETER.test(url) ? "strict-origin" : "same-origin"],
    ["cross-origin-opener-policy", "same-origin"],
    ["permissions-policy", "camera=(), microphone=(), geolocation=(), payment=()"],
    ...sharedHeaders(appUrl),
  ];
}

/**
 * Every response of the API. A public route or page may set its own `Cache-Control` or
 * `Content-Security-Policy`, which is kept.
 * @param appUrl the public origin
 */
export function apiHeaders(appUrl: string): MiddlewareHandler {
  const headers = apiHeaderList(appUrl);
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

export function apiHeaderList(appUrl: string): [string, string][] {
  return [
    ["content-security-policy", NO_CONTENT_POLICY],
    ["referrer-policy", "no-referrer"],
    ["cross-origin-resource-policy", "same-origin"],
    ...sharedHeaders(appUrl),
  ];
}

function sharedHeaders(appUrl: string): [string, string][] {
  return [
    ["x-content-type-options", "nosniff"],
    ["cache-control", "no-store"],
    // Not over plain HTTP: RFC 6797, section 7.2.
    ...(appUrl.startsWith("https://")
      ? ([["strict-transport-security", "max-age=31536000"]] as [string, string][])
      : []),
  ];
}
