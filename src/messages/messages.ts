import type { Locale } from "../domain/locale.ts";
import type account from "./en/account.json";
import type adminAudit from "./en/adminAudit.json";
import type adminEventEndpoints from "./en/adminEventEndpoints.json";
import type adminServiceKeys from "./en/adminServiceKeys.json";
import type adminSubscriptions from "./en/adminSubscriptions.json";
import type adminUsers from "./en/adminUsers.json";
import type adminWebhooks from "./en/adminWebhooks.json";
import type apiKeys from "./en/apiKeys.json";
import type auth from "./en/auth.json";
import type billing from "./en/billing.json";
import type common from "./en/common.json";
import type dashboard from "./en/dashboard.json";
import type failures from "./en/failures.json";
import type landing from "./en/landing.json";
import type notifications from "./en/notifications.json";
import type onboarding from "./en/onboarding.json";
import type refusals from "./en/refusals.json";
import type security from "./en/security.json";
import type settings from "./en/settings.json";

/** What pages and mails say: a folder per language, a file per part. */
export type Messages = {
  common: typeof common;
  account: typeof account;
  refusals: typeof refusals;
  failures: typeof failures;
  landing: typeof landing;
  auth: typeof auth;
  onboarding: typeof onboarding;
  dashboard: typeof dashboard;
  billing: typeof billing;
  apiKeys: typeof apiKeys;
  notifications: typeof notifications;
  settings: typeof settings;
  security: typeof security;
  adminUsers: typeof adminUsers;
  adminWebhooks: typeof adminWebhooks;
  adminSubscriptions: typeof adminSubscriptions;
  adminServiceKeys: typeof adminServiceKeys;
  adminEventEndpoints: typeof adminEventEndpoints;
  adminAudit: typeof adminAudit;
};

const PARTS = [
  "common",
  "account",
  "refusals",
  "failures",
  "landing",
  "auth",
  "onboarding",
  "dashboard",
  "billing",
  "apiKeys",
  "notifications",
  "settings",
  "security",
  "adminUsers",
  "adminWebhooks",
  "adminSubscriptions",
  "adminServiceKeys",
  "adminEventEndpoints",
  "adminAudit",
] as const satisfies (keyof Messages)[];

export async function messagesIn(locale: Locale): Promise<Messages> {
  const parts = PARTS.map(async (part) => [
    part,
    (await import(`./${locale}/${part}.json`, { with: { type: "json" } })).default,
  ]);
  return Object.fromEntries(await Promise.all(parts));
}
