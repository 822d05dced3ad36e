import type { Route } from "../../../../src/api/rest/route.ts";
import { ROUTES } from "../../../../src/api/rest/routes.ts";
import type { Inhabitant, SecurityContext } from "./security-context.ts";

/** What names a route: `GET /subscriptions/:id`. */
export function nameOf({ method, path }: Pick<Route, "method" | "path">): string {
  return `${method} ${path}`;
}

export function routeNames(wanted: (route: Route) => boolean): string[] {
  return ROUTES.filter(wanted).map(nameOf);
}

/** A valid request about an object of `owner`, for each route. */
export function requestTo(
  route: Pick<Route, "method" | "path">,
  owner: Inhabitant,
  on: SecurityContext,
): string {
  const id = IDS[route.path.split("/")[1] as string]?.(owner, on) ?? "";
  return `${route.method} /api${route.path.replace(":id", id).replace(":externalId", "crm-1")}`;
}

export const ENDPOINT_ID = "00000000-0000-4000-8000-000000000000";

const IDS: Record<string, (owner: Inhabitant, on: SecurityContext) => string> = {
  subscriptions: ({ subscriptionIds }) => subscriptionIds[0],
  "api-keys": ({ keyId }) => keyId,
  notifications: ({ notificationIds }) => notificationIds[0],
  "webhook-deliveries": (_, { deliveryId }) => deliveryId,
  "service-keys": () => ENDPOINT_ID,
  "event-endpoints": () => ENDPOINT_ID,
};

/** A valid body for each route that has one. */
export const BODIES: Record<string, Record<string, unknown>> = {
  "PATCH /users/me": { name: "A New Name" },
  "POST /subscriptions/:id/change": { seats: 6, when: "now" },
  "POST /subscriptions/:id/reconcile": {},
  "POST /subscriptions/:id/dismiss": { reason: "refunded by hand" },
  "PUT /users/external/:externalId": { email: "external@example.com", name: "External" },
  "POST /entitlements/check": { feature: "events" },
  "POST /usage": { user: "somebody", feature: "events", amount: 1, idempotencyKey: "1" },
  "POST /checkout": { planId: "pro" },
  "POST /portal": {},
  "POST /api-keys": { name: "A New Key" },
  "POST /service-keys": { name: "A New Key", permissions: ["users:read"] },
  "POST /service-keys/:id/rotate": {},
  "POST /notifications/:id/read": {},
  "POST /webhook-deliveries/:id/replay": {},
  "POST /event-endpoints": { url: "https://93.184.215.14/hook", types: ["user.deleted"] },
  "PATCH /event-endpoints/:id": { enabled: false },
  "POST /event-endpoints/:id/test": {},
  "POST /event-endpoints/:id/replay": {},
};
