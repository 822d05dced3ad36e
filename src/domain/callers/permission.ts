/** What a service key may do, by the contract's table of routes. */
export const PERMISSIONS = [
  "users:read",
  "users:write",
  "subscriptions:read",
  "checkout:write",
  "entitlements:read",
  "usage:write",
  "events:read",
] as const;

export type Permission = (typeof PERMISSIONS)[number];
