import type { useFormatter, useTranslations } from "next-intl";
import type { Messages } from "../../../../messages/messages.ts";

type Texts = { t: ReturnType<typeof useTranslations<never>>; format: ReturnType<typeof useFormatter> };

type DescribedDetail = { name: string; label: string; value: string };

/**
 * An audit entry's details in the reader's language; those of later releases under the names that they were
 * stored with.
 */
export function describeDetails(details: Record<string, unknown>, texts: Texts): DescribedDetail[] {
  return Object.entries(details).flatMap(([name, value]) =>
    name === "changes"
      ? describeChanges(value as Record<string, [unknown, unknown]>, texts)
      : [{ name, label: labelOf(name, texts), value: describeValue(name, value, texts) }],
  );
}

function describeChanges(changes: Record<string, [unknown, unknown]>, texts: Texts): DescribedDetail[] {
  return Object.entries(changes).map(([name, [before, after]]) => ({
    name,
    label: labelOf(name, texts),
    value: `${describeValue(name, before, texts)} → ${describeValue(name, after, texts)}`,
  }));
}

type Field = keyof Messages["adminAudit"]["details"]["fields"];
type Role = keyof Messages["adminUsers"]["roles"];
type Outcome = keyof Messages["adminAudit"]["details"]["outcomes"];
type PaymentStatus = keyof Messages["billing"]["payments"]["statuses"];

function labelOf(name: string, { t }: Texts): string {
  const key = `adminAudit.details.fields.${name as Field}` as const;
  return t.has(key) ? t(key) : name;
}

function describeValue(name: string, value: unknown, { t, format }: Texts): string {
  if (value === null && name === "expiresAt") return t("apiKeys.never");
  if (value === null || value === undefined || value === "") return "–";
  switch (name) {
    case "role":
      return wordOf(`adminUsers.roles.${value as Role}`);
    case "outcome":
      return wordOf(`adminAudit.details.outcomes.${value as Outcome}`);
    case "status":
      return wordOf(`billing.payments.statuses.${value as PaymentStatus}`);
    // Typed by a person.
    case "reason":
    case "description":
      return String(value);
  }
  switch (typeof value) {
    case "boolean":
      return t(value ? "adminSubscriptions.changes.yes" : "adminSubscriptions.changes.no");
    case "number":
      return format.number(value);
    case "string":
      return isTime(value)
        ? format.dateTime(new Date(value), { dateStyle: "medium", timeStyle: "long" })
        : value;
    default:
      return Array.isArray(value) ? value.map(String).join(", ") : JSON.stringify(value);
  }

  function wordOf(key: Parameters<typeof t>[0]): string {
    return t.has(key) ? t(key) : String(value);
  }
}

function isTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text) && !Number.isNaN(Date.parse(text));
}
