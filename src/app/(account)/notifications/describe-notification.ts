import { getFormatter, getLocale, getTranslations } from "next-intl/server";
import type { z } from "zod";
import type { NotificationView } from "../../../operations/notifications/notification-view.ts";
import { formatPrice } from "../../../ui/price.ts";
import { planName } from "../billing/plans.ts";

export type Notification = z.output<typeof NotificationView>;

type DescribedNotification = { sentence: string; href: string };

/** A notification's sentence, and the page with more about it. */
export async function describeNotification({ kind, details }: Notification): Promise<DescribedNotification> {
  const t = await getTranslations("notifications.kinds");
  switch (kind) {
    case "subscription_activated":
    case "subscription_past_due":
    case "subscription_unpaid":
    case "subscription_canceled":
      return { sentence: t(kind, { plan: await planName(details.planId) }), href: "/billing" };
    case "subscription_plan_changed": {
      const [from, to] = await Promise.all([planName(details.from), planName(details.to)]);
      return { sentence: t(kind, { from, to }), href: "/billing" };
    }
    case "api_key_created":
      return {
        sentence: t(kind, { name: String(details.name), prefix: String(details.prefix) }),
        href: "/api-keys",
      };
    case "api_key_expiring":
    case "service_key_expiring": {
      const format = await getFormatter();
      return {
        sentence: t(kind, {
          name: String(details.name),
          prefix: String(details.prefix),
          date: format.dateTime(new Date(String(details.expiresAt)), { dateStyle: "long" }),
        }),
        href: kind === "api_key_expiring" ? "/api-keys" : "/admin/service-keys",
      };
    }
    case "password_changed":
      return { sentence: t(kind, { keys: Number(details.keys ?? 0) }), href: "/settings" };
    case "email_changed":
      return { sentence: t(kind), href: "/settings" };
    case "role_changed":
      return { sentence: t(kind, { role: String(details.role) }), href: "/dashboard" };
    case "price_unknown": {
      const { provider, subscription, price } = details;
      const values = {
        provider: String(provider),
        subscription: String(subscription),
        price: String(price),
      };
      return { sentence: t(kind, values), href: "/admin/subscriptions" };
    }
    case "owner_unknown": {
      const { provider, subscription } = details;
      const values = { provider: String(provider), subscription: String(subscription) };
      return { sentence: t(kind, values), href: "/admin/webhooks" };
    }
    case "payment_not_undone": {
      const { because, provider, subscription } = details;
      const values = {
        because: String(because),
        provider: String(provider),
        subscription: String(subscription),
      };
      return { sentence: t(kind, values), href: "/admin/subscriptions" };
    }
    case "payment_undone": {
      const { because, provider, subscription, refunded } = details;
      const values = {
        because: String(because),
        provider: String(provider),
        subscription: String(subscription),
        refunded: String(refunded),
      };
      return { sentence: t(kind, values), href: "/admin/subscriptions" };
    }
    case "payment_refunded":
    case "payment_disputed": {
      const { provider, payment, amount, currency } = details;
      const price = { amount: Number(amount), currency: String(currency) };
      return {
        sentence: t(kind, {
          provider: String(provider),
          payment: String(payment),
          amount: formatPrice(await getLocale(), price),
        }),
        href: "/admin/users",
      };
    }
    case "grace_period_reminder":
    case "grace_period_ending": {
      const format = await getFormatter();
      return {
        sentence: t(kind, {
          plan: await planName(details.planId),
          date: format.dateTime(new Date(String(details.endsAt)), { dateStyle: "long" }),
        }),
        href: "/billing",
      };
    }
    case "event_endpoint_disabled":
      return { sentence: t(kind, { url: String(details.url) }), href: "/admin/event-endpoints" };
    default:
      return kind satisfies never;
  }
}
