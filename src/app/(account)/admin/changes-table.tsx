import { getFormatter, getTranslations } from "next-intl/server";
import type { z } from "zod";
import type { ChangesView } from "../../../operations/subscriptions/changes-view.ts";
import { planName } from "../billing/plans.ts";

/** As the operations show them. */
type Changes = z.output<typeof ChangesView>;

export type DescribedChange = { field: string; before: string; after: string };

/** Field by field what was before and what was after, in the reader's language. */
export async function describeChanges(changes: Changes): Promise<DescribedChange[]> {
  const [t, format] = await Promise.all([getTranslations("adminSubscriptions"), getFormatter()]);
  const describeValue = async (field: keyof Changes, value: unknown): Promise<string> => {
    if (value === null || value === undefined) return t("changes.nothing");
    switch (field) {
      case "planId":
        return planName(String(value));
      case "status":
        return t(`status.${value as NonNullable<NonNullable<Changes["status"]>[0]>}`);
      case "currentPeriodEnd":
        return format.dateTime(new Date(String(value)), { dateStyle: "medium", timeStyle: "long" });
      case "seats":
        return format.number(Number(value));
      case "cancelAtPeriodEnd":
      case "outOfOrder":
        return t(value === true ? "changes.yes" : "changes.no");
      case "providerSubscriptionId":
        return String(value);
      default:
        return field satisfies never;
    }
  };
  const entries = Object.entries(changes) as [keyof Changes, [unknown, unknown]][];
  return Promise.all(
    entries.map(async ([field, [before, after]]) => ({
      field: t(`changes.${field}`),
      before: await describeValue(field, before),
      after: await describeValue(field, after),
    })),
  );
}

/** Before and after, side by side. */
export async function ChangesTable({ changes }: { changes: Changes }) {
  const [t, rows] = await Promise.all([getTranslations("adminSubscriptions"), describeChanges(changes)]);
  return (
    <table className="mt-2 w-full max-w-xl text-sm">
      <caption className="sr-only">{t("changes.title")}</caption>
      <thead>
        <tr className="text-left text-muted">
          <th scope="col" className="py-1 pr-4 font-normal">
            {t("changes.field")}
          </th>
          <th scope="col" className="py-1 pr-4 font-normal">
            {t("changes.before")}
          </th>
          <th scope="col" className="py-1 font-normal">
            {t("changes.after")}
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ field, before, after }) => (
          <tr key={field}>
            <th scope="row" className="border-line border-t py-1 pr-4 text-left font-normal">
              {field}
            </th>
            <td className="break-words border-line border-t py-1 pr-4 text-muted">{before}</td>
            <td className="break-words border-line border-t py-1 font-medium">{after}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
