import type { Locale } from "../domain/locale.ts";
import type { NotificationKind } from "../domain/notifications/notification.ts";
import type { PlanCatalog } from "../domain/plans/plan.ts";
import { mailTexts } from "../messages/mail-texts.ts";
import type { NotificationMail } from "../store/notifications/notification-mail.ts";
import type { EmailMessage } from "./email-message.ts";

type Context = {
  /** The public origin, without a slash at the end. */
  appUrl: string;
  plans: Pick<PlanCatalog, "plans">;
};

const MAX_SENTENCES = 20;

/** A sentence per notification, links to the details, and how to turn these mails off. */
export async function notificationEmail(
  { to, locale, notifications }: NotificationMail,
  { appUrl, plans }: Context,
): Promise<EmailMessage> {
  const t = await mailTexts(locale);
  const [first] = notifications;
  const listed = notifications.slice(0, MAX_SENTENCES);
  const sentences = listed.map(({ kind, details }) =>
    t(`notifications.sentences.${kind}`, valuesOf(details, plans.plans, locale)),
  );
  const unlistedCount = notifications.length - listed.length;
  const more = unlistedCount > 0 ? [t("notifications.more", { count: unlistedCount })] : [];
  const pages = new Set([
    ...listed.map(({ kind }) => PAGES[kind]),
    ...(unlistedCount > 0 ? ["/notifications"] : []),
  ]);
  return {
    to,
    subject:
      notifications.length === 1 && first
        ? t(`notifications.subjects.${first.kind}`)
        : t("notifications.severalSubject"),
    text: `${[...sentences, ...more].join("\n")}

${t("notifications.seeDetails")}
${[...pages].map((page) => appUrl + page).join("\n")}

${t("notifications.unsubscribe")}
${appUrl}/settings
`,
  };
}

const PAGES: Record<NotificationKind, string> = {
  subscription_activated: "/billing",
  subscription_plan_changed: "/billing",
  subscription_past_due: "/billing",
  subscription_unpaid: "/billing",
  subscription_canceled: "/billing",
  price_unknown: "/admin/subscriptions",
  owner_unknown: "/notifications",
  api_key_created: "/api-keys",
  api_key_expiring: "/api-keys",
  role_changed: "/dashboard",
  password_changed: "/settings",
  email_changed: "/settings",
  payment_undone: "/notifications",
  payment_not_undone: "/notifications",
  payment_refunded: "/notifications",
  payment_disputed: "/notifications",
  grace_period_reminder: "/billing",
  grace_period_ending: "/billing",
  event_endpoint_disabled: "/admin/event-endpoints",
  service_key_expiring: "/admin/service-keys",
};

/** Names that people choose are not among them: a mail contains nothing that a stranger has written. */
function valuesOf(details: Record<string, unknown>, plans: PlanCatalog["plans"], locale: Locale) {
  const planOf = (id: unknown) => plans.find((plan) => plan.id === id)?.name ?? toSingleLine(id);
  return {
    plan: planOf(details.planId),
    from: planOf(details.from),
    to: planOf(details.to),
    prefix: toSingleLine(details.prefix),
    date: dayIn(locale, details.endsAt),
    role: details.role === "admin" ? "admin" : "user",
  };
}

function dayIn(locale: Locale, time: unknown): string {
  const date = new Date(String(time));
  if (Number.isNaN(date.getTime())) return "";
  return new Intl.DateTimeFormat(locale, { dateStyle: "long", timeZone: "UTC" }).format(date);
}

const MAX_VALUE_LENGTH = 60;

/** Plans that are no longer sold are shown by their ids, which others have written. */
function toSingleLine(text: unknown): string {
  const line = String(text ?? "").replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, " ");
  return [...line].slice(0, MAX_VALUE_LENGTH).join("");
}
