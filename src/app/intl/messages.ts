import type {} from "next-intl";
import type { Locale } from "../../domain/locale.ts";
import type account from "./messages/en/account.json";
import type adminSubscriptions from "./messages/en/adminSubscriptions.json";
import type adminUsers from "./messages/en/adminUsers.json";
import type adminWebhooks from "./messages/en/adminWebhooks.json";
import type apiKeys from "./messages/en/apiKeys.json";
import type auth from "./messages/en/auth.json";
import type billing from "./messages/en/billing.json";
import type common from "./messages/en/common.json";
import type dashboard from "./messages/en/dashboard.json";
import type landing from "./messages/en/landing.json";
import type notifications from "./messages/en/notifications.json";
import type onboarding from "./messages/en/onboarding.json";
import type refusals from "./messages/en/refusals.json";
import type settings from "./messages/en/settings.json";

/** A file each, in a folder per language. */
export type Messages = {
  common: typeof common;
  account: typeof account;
  refusals: typeof refusals;
  landing: typeof landing;
  auth: typeof auth;
  onboarding: typeof onboarding;
  dashboard: typeof dashboard;
  billing: typeof billing;
  apiKeys: typeof apiKeys;
  notifications: typeof notifications;
  settings: typeof settings;
  adminUsers: typeof adminUsers;
  adminWebhooks: typeof adminWebhooks;
  adminSubscriptions: typeof adminSubscriptions;
};

const PARTS = [
  "common",
  "account",
  "refusals",
  "landing",
  "auth",
  "onboarding",
  "dashboard",
  "billing",
  "apiKeys",
  "notifications",
  "settings",
  "adminUsers",
  "adminWebhooks",
  "adminSubscriptions",
] as const satisfies (keyof Messages)[];

export async function messagesIn(locale: Locale): Promise<Messages> {
  const parts = PARTS.map(async (part) => [
    part,
    (await import(`./messages/${locale}/${part}.json`)).default,
  ]);
  return Object.fromEntries(await Promise.all(parts));
}

declare module "next-intl" {
  interface AppConfig {
    Messages: Messages;
    Locale: Locale;
  }
}
