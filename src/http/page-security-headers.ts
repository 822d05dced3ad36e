/** Scripts and styles of ours alone, and no page of ours in somebody else's frame. */
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

/** What every page tells browsers and caches. */
export function securityHeaders(policy: string, appUrl: string): [string, string][] {
  return [
    ["content-security-policy", policy],
    ["x-content-type-options", "nosniff"],
    // Not "no-referrer": browsers would send "Origin: null" with a page's own forms.
    ["referrer-policy", "same-origin"],
    ["cross-origin-opener-policy", "same-origin"],
    ["permissions-policy", "camera=(), microphone=(), geolocation=(), payment=()"],
    ["cache-control", "no-store"],
    ...(appUrl.startsWith("https://")
      ? ([["strict-transport-security", "max-age=31536000"]] as [string, string][])
      : []),
  ];
}
