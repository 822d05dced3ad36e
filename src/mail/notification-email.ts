import type { NotificationKind } from "../domain/notification.ts";
import type { PlanCatalog } from "../domain/plan.ts";
import type { NotificationMail } from "../store/notification-mail.ts";
import type { EmailMessage } from "./email-message.ts";
import { type Facts, NOTIFICATION_WORDS } from "./notification-words.ts";

type Place = {
  /** The public origin, without a slash at the end. */
  appUrl: string;
  plans: Pick<PlanCatalog, "plans">;
};

const MAX_SENTENCES = 20;

/** What has happened, a sentence each, where to see it, and how to get no more of it. */
export function notificationEmail(
  { to, locale, notifications }: NotificationMail,
  { appUrl, plans }: Place,
): EmailMessage {
  const words = NOTIFICATION_WORDS[locale] ?? NOTIFICATION_WORDS.en;
  const [first] = notifications;
  const told = notifications.slice(0, MAX_SENTENCES);
  const sentences = told.map(({ kind, details }) => words.sentences[kind](factsOf(details, plans.plans)));
  const rest = notifications.length - told.length;
  const pages = new Set([...told.map(({ kind }) => PAGES[kind]), ...(rest > 0 ? ["/notifications"] : [])]);
  return {
    to,
    subject: notifications.length === 1 && first ? words.subjects[first.kind] : words.severalSubject,
    text: `${[...sentences, ...(rest > 0 ? [words.more(rest)] : [])].join("\n")}

${words.look}
${[...pages].map((page) => appUrl + page).join("\n")}

${words.switchOff}
${appUrl}/settings
`,
  };
}

const PAGES: Record<NotificationKind, string> = {
  subscription_activated: "/billing",
  subscription_plan_changed: "/billing",
  subscription_past_due: "/billing",
  subscription_canceled: "/billing",
  api_key_created: "/api-keys",
  api_key_expiring: "/api-keys",
  role_changed: "/dashboard",
  password_changed: "/settings",
  email_changed: "/settings",
  payment_undone: "/notifications",
};

function factsOf(details: Record<string, unknown>, plans: PlanCatalog["plans"]): Facts {
  const planOf = (id: unknown) => plans.find((plan) => plan.id === id)?.name ?? toSingleLine(id);
  return {
    plan: planOf(details.planId),
    from: planOf(details.from),
    to: planOf(details.to),
    prefix: toSingleLine(details.prefix),
    isAdministrator: details.role === "admin",
  };
}

const MAX_FACT_LENGTH = 60;

/** Plans that are not for sale any more are told by their ids, which others have written. */
function toSingleLine(text: unknown): string {
  return String(text ?? "")
    .replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, " ")
    .slice(0, MAX_FACT_LENGTH);
}
