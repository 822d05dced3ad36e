import { join } from "node:path";
import { createFormatter, createTranslator } from "next-intl";
import { beforeAll, beforeEach, expect, it, vi } from "vitest";
import plans from "../../plans.config.ts";
import { LOCALES, type Locale } from "../../src/domain/locale.ts";
import { NOTIFICATION_KINDS, type NotificationKind } from "../../src/domain/notifications/notification.ts";
import { messagesIn } from "../../src/messages/messages.ts";

const reader = vi.hoisted(() => ({ locale: "en" as Locale }));

// Both need a request that Next.js serves.
vi.mock("next-intl/server", () => {
  const options = async () => ({
    locale: reader.locale,
    messages: await messagesIn(reader.locale),
    timeZone: "UTC",
    onError: (error: Error) => {
      throw error;
    },
  });
  return {
    getLocale: async () => reader.locale,
    getFormatter: async () => createFormatter(await options()),
    getTranslations: async (namespace: never) => createTranslator({ ...(await options()), namespace }),
  };
});
vi.mock("../../src/app/gate/read.ts", () => ({ read: async () => ({ items: plans.plans }) }));

/** Typed by hand: the pages have compiler options of their own. */
let describeNotification: (notification: object) => Promise<{ sentence: string; href: string }>;
beforeAll(async () => {
  const file = join(import.meta.dirname, "../../src/app/(account)/notifications/describe-notification.ts");
  ({ describeNotification } = await import(file));
});
beforeEach(() => {
  reader.locale = "en";
});

async function described(kind: NotificationKind, details: Record<string, unknown>) {
  const stored = { id: "1", kind, details, readAt: null, createdAt: new Date() };
  const { sentence, href } = await describeNotification(stored);
  // Some languages have narrow spaces in numbers.
  return [sentence.replace(/\s/g, " "), href];
}

const PAYMENT = { provider: "provider-a", payment: "in_1", amount: "123450", currency: "EUR" };
const UNDONE = { provider: "provider-b", subscription: "sub_1" };
const KEY = { name: "CI", prefix: "tg_abc", expiresAt: "2030-03-04T05:06:07.000Z" };

it.each<[Locale, NotificationKind, Record<string, unknown>, sentence: string, href: string]>([
  [
    "en",
    "payment_refunded",
    PAYMENT,
    "Payment in_1 (provider-a) of €1,234.50 was refunded in full.",
    "/admin/users",
  ],
  [
    "de",
    "payment_disputed",
    PAYMENT,
    "Die Zahlung in_1 (provider-a) über 1.234,50 € wird angefochten. Antworten Sie beim Anbieter, bevor die Frist abläuft.",
    "/admin/users",
  ],
  [
    "zh",
    "payment_refunded",
    { ...PAYMENT, currency: "JPY" },
    "付款 in_1（provider-a，JP¥123,450）已全额退款。",
    "/admin/users",
  ],
  [
    "en",
    "payment_undone",
    { ...UNDONE, because: "paid_twice", refunded: "yes" },
    "A user paid for a second subscription. sub_1 (provider-b) was canceled and refunded.",
    "/admin/subscriptions",
  ],
  [
    "en",
    "payment_undone",
    { ...UNDONE, because: "deleted", refunded: "no" },
    "A subscription was paid for after its account was deleted. sub_1 (provider-b) was canceled, but not refunded. If it was charged, refund it at the provider.",
    "/admin/subscriptions",
  ],
  [
    "en",
    "payment_not_undone",
    { ...UNDONE, because: "resumed" },
    "A subscription was resumed after its account was deleted. Subscription sub_1 (provider-b) has not been canceled yet, and may be charged again. Cancel it at the provider. If it was charged since the deletion, refund that there.",
    "/admin/subscriptions",
  ],
  ["en", "api_key_expiring", KEY, "The API key “CI” (tg_abc…) expires on March 4, 2030.", "/api-keys"],
  [
    "zh",
    "service_key_expiring",
    KEY,
    "服务密钥“CI”（tg_abc…）将于 2030年3月4日过期。请为使用它的程序创建新密钥。",
    "/admin/service-keys",
  ],
  [
    "de",
    "grace_period_ending",
    { planId: "pro", endsAt: "2030-03-04T23:59:59.000Z" },
    "Ihr Zugang zu Pro endet am 4. März 2030, wenn die ausstehende Zahlung nicht eingeht.",
    "/billing",
  ],
  [
    "en",
    "subscription_plan_changed",
    { from: "pro", to: "no longer sold" },
    "Your plan changed from Pro to no longer sold.",
    "/billing",
  ],
  ["es", "password_changed", {}, "Tu contraseña ha cambiado.", "/settings"],
  ["en", "password_changed", { keys: 1 }, "Your password was changed; an API key was revoked.", "/settings"],
  [
    "de",
    "password_changed",
    { keys: 3 },
    "Ihr Passwort wurde geändert; 3 API-Schlüssel wurden widerrufen.",
    "/settings",
  ],
  ["en", "role_changed", { role: "admin" }, "You’re now an administrator.", "/dashboard"],
  ["en", "role_changed", { role: "user" }, "You’re no longer an administrator.", "/dashboard"],
])("says in %s about %s what its details say: %j", async (locale, kind, details, sentence, href) => {
  reader.locale = locale;
  expect(await described(kind, details)).toEqual([sentence, href]);
});

it.each(NOTIFICATION_KINDS)("has a sentence without gaps about %s in each language", async (kind) => {
  const details = {
    ...{ ...PAYMENT, ...UNDONE, ...KEY, price: "price_1", role: "admin", url: "https://example.com/hook" },
    ...{
      planId: "pro",
      from: "pro",
      to: "team",
      endsAt: KEY.expiresAt,
      because: "resumed",
      refunded: "not_due",
    },
  };
  for (const locale of LOCALES) {
    reader.locale = locale;
    const [sentence] = await described(kind, details);
    expect(sentence).not.toMatch(/undefined|null|NaN|Invalid|[{}]/);
  }
});
