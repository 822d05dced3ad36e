import { createApiKey } from "../../operations/api-keys/create-api-key.ts";
import { listApiKeys } from "../../operations/api-keys/list-api-keys.ts";
import { revokeApiKey } from "../../operations/api-keys/revoke-api-key.ts";
import { listAuditEntries } from "../../operations/audit/list-audit-entries.ts";
import { changeSubscription } from "../../operations/billing/change-subscription.ts";
import { createCheckout } from "../../operations/billing/create-checkout.ts";
import { openPortal } from "../../operations/billing/open-portal.ts";
import { checkEntitlement } from "../../operations/entitlements/check-entitlement.ts";
import { showEntitlements } from "../../operations/entitlements/show-entitlements.ts";
import { createEventEndpoint } from "../../operations/event-endpoints/create-endpoint.ts";
import { deleteEventEndpoint } from "../../operations/event-endpoints/delete-endpoint.ts";
import { listEndpointDeliveries } from "../../operations/event-endpoints/list-endpoint-deliveries.ts";
import { listEventEndpoints } from "../../operations/event-endpoints/list-endpoints.ts";
import { replayEndpointDeliveries } from "../../operations/event-endpoints/replay-deliveries.ts";
import { showEventEndpoint } from "../../operations/event-endpoints/show-endpoint.ts";
import { testEventEndpoint } from "../../operations/event-endpoints/test-endpoint.ts";
import { updateEventEndpoint } from "../../operations/event-endpoints/update-endpoint.ts";
import { listEvents } from "../../operations/events/list-events.ts";
import { listNotifications } from "../../operations/notifications/list-notifications.ts";
import { markRead } from "../../operations/notifications/mark-read.ts";
import { listPayments } from "../../operations/payments/list-payments.ts";
import { listPlans } from "../../operations/plans/list-plans.ts";
import { createServiceKey } from "../../operations/service-keys/create-service-key.ts";
import { listServiceKeys } from "../../operations/service-keys/list-service-keys.ts";
import { revokeServiceKey } from "../../operations/service-keys/revoke-service-key.ts";
import { rotateServiceKey } from "../../operations/service-keys/rotate-service-key.ts";
import { dismissSubscription } from "../../operations/subscriptions/dismiss-subscription.ts";
import { listOutOfOrder } from "../../operations/subscriptions/list-out-of-order.ts";
import { listSubscriptions } from "../../operations/subscriptions/list-subscriptions.ts";
import { reconcileSubscription } from "../../operations/subscriptions/reconcile-subscription.ts";
import { showHistory } from "../../operations/subscriptions/show-history.ts";
import { showLastChange } from "../../operations/subscriptions/show-last-change.ts";
import { showSubscription } from "../../operations/subscriptions/show-subscription.ts";
import { recordUsage } from "../../operations/usage/record-usage.ts";
import { listUsers } from "../../operations/users/list-users.ts";
import { putExternalUser } from "../../operations/users/put-external-user.ts";
import { searchUsers } from "../../operations/users/search-users.ts";
import { showProfile } from "../../operations/users/show-profile.ts";
import { updateProfile } from "../../operations/users/update-profile.ts";
import { listDeliveries } from "../../operations/webhooks/list-deliveries.ts";
import { replayDelivery } from "../../operations/webhooks/replay-delivery.ts";
import { showDelivery } from "../../operations/webhooks/show-delivery.ts";
import { showStatistics } from "../../operations/webhooks/show-statistics.ts";
import { type Route, route } from "./route.ts";

/** Every operation available over REST, one per line. */
export const ROUTES: readonly Route[] = [
  route("GET", "/plans", listPlans, { plural: "plans" }),
  route("GET", "/users", listUsers, { plural: "users" }),
  route("GET", "/users/me", showProfile),
  route("PATCH", "/users/me", updateProfile),
  route("PUT", "/users/external/:externalId", putExternalUser),
  route("GET", "/user-directory", searchUsers, { plural: "users" }),
  route("GET", "/subscriptions", listSubscriptions, { plural: "subscriptions" }),
  route("GET", "/subscriptions/:id", showSubscription),
  route("GET", "/subscriptions/:id/history", showHistory, { plural: "history" }),
  route("GET", "/subscriptions/:id/last-change", showLastChange),
  route("POST", "/subscriptions/:id/change", changeSubscription),
  route("POST", "/subscriptions/:id/reconcile", reconcileSubscription),
  route("POST", "/subscriptions/:id/dismiss", dismissSubscription),
  route("GET", "/out-of-order-subscriptions", listOutOfOrder, { plural: "subscriptions" }),
  route("GET", "/payments", listPayments, { plural: "payments" }),
  route("GET", "/entitlements", showEntitlements, { etag: true }),
  route("POST", "/entitlements/check", checkEntitlement),
  route("POST", "/usage", recordUsage),
  route("POST", "/checkout", createCheckout),
  route("POST", "/portal", openPortal),
  route("GET", "/api-keys", listApiKeys, { plural: "apiKeys" }),
  route("POST", "/api-keys", createApiKey, { status: 201 }),
  route("DELETE", "/api-keys/:id", revokeApiKey),
  route("GET", "/service-keys", listServiceKeys, { plural: "serviceKeys" }),
  route("POST", "/service-keys", createServiceKey, { status: 201 }),
  route("POST", "/service-keys/:id/rotate", rotateServiceKey),
  route("DELETE", "/service-keys/:id", revokeServiceKey),
  route("GET", "/notifications", listNotifications, { plural: "notifications" }),
  route("POST", "/notifications/:id/read", markRead),
  route("GET", "/webhook-deliveries", listDeliveries, { plural: "deliveries" }),
  route("GET", "/webhook-deliveries/:id", showDelivery),
  route("POST", "/webhook-deliveries/:id/replay", replayDelivery),
  route("GET", "/events", listEvents, { plural: "events" }),
  route("GET", "/event-endpoints", listEventEndpoints, { plural: "endpoints" }),
  route("POST", "/event-endpoints", createEventEndpoint, { status: 201 }),
  route("GET", "/event-endpoints/:id", showEventEndpoint),
  route("PATCH", "/event-endpoints/:id", updateEventEndpoint),
  route("DELETE", "/event-endpoints/:id", deleteEventEndpoint),
  route("POST", "/event-endpoints/:id/test", testEventEndpoint),
  route("GET", "/event-endpoints/:id/deliveries", listEndpointDeliveries, { plural: "deliveries" }),
  route("POST", "/event-endpoints/:id/replay", replayEndpointDeliveries),
  route("GET", "/webhook-statistics", showStatistics),
  route("GET", "/audit", listAuditEntries, { plural: "entries" }),
];
