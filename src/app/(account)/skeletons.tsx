import type { ReactNode } from "react";
import { AuditSkeleton } from "./admin/audit/skeleton.tsx";
import { EventEndpointSkeleton } from "./admin/event-endpoints/[id]/skeleton.tsx";
import { EventEndpointsSkeleton } from "./admin/event-endpoints/skeleton.tsx";
import { ServiceKeysSkeleton } from "./admin/service-keys/skeleton.tsx";
import { SubscriptionsSkeleton } from "./admin/subscriptions/skeleton.tsx";
import { UserSkeleton } from "./admin/users/[id]/skeleton.tsx";
import { UsersSkeleton } from "./admin/users/skeleton.tsx";
import { DeliverySkeleton } from "./admin/webhooks/[id]/skeleton.tsx";
import { WebhooksSkeleton } from "./admin/webhooks/skeleton.tsx";
import { ApiKeysSkeleton } from "./api-keys/skeleton.tsx";
import { BillingSkeleton } from "./billing/skeleton.tsx";
import { DashboardSkeleton } from "./dashboard/skeleton.tsx";
import { NotificationsSkeleton } from "./notifications/skeleton.tsx";
import { SecuritySkeleton } from "./settings/security/skeleton.tsx";
import { SettingsSkeleton } from "./settings/skeleton.tsx";

/** Shown while a page loads, by path; `*` stands for any last segment. */
export const SKELETONS: Record<string, ReactNode> = {
  "/dashboard": <DashboardSkeleton />,
  "/billing": <BillingSkeleton />,
  "/api-keys": <ApiKeysSkeleton />,
  "/notifications": <NotificationsSkeleton />,
  "/settings": <SettingsSkeleton />,
  "/settings/security": <SecuritySkeleton />,
  "/admin/users": <UsersSkeleton />,
  "/admin/users/*": <UserSkeleton />,
  "/admin/webhooks": <WebhooksSkeleton />,
  "/admin/webhooks/*": <DeliverySkeleton />,
  "/admin/subscriptions": <SubscriptionsSkeleton />,
  "/admin/service-keys": <ServiceKeysSkeleton />,
  "/admin/event-endpoints": <EventEndpointsSkeleton />,
  "/admin/event-endpoints/*": <EventEndpointSkeleton />,
  "/admin/audit": <AuditSkeleton />,
};
