import { getFormatter, getTranslations } from "next-intl/server";
import type { z } from "zod";
import type { ChangesView } from "../../../operations/subscriptions/changes-view.ts";
import { planName } from "./subscription-state.tsx";

/** As the operations show them. */
type Changes = z.output<typeof ChangesView>;

export type ChangeInWords = { field: string; before: string; after: string };

/** Field by field what was before and what was after, in the reader's language. */
export async function changesInWords(changes: Changes): Promise<ChangeInWords[]> {
  const [words, format] = await Promise.all([getTranslations("adminSubscriptions"), getFormatter()]);
  const say = async (field: keyof Changes, value: unknown): Promise<string> => {
    if (value === null || value === undefined) return words("changes.nothing");
    switch (field) {
      case "planId":
        return planName(String(value));
      case "status":
        return words(`status.${value as NonNullable<NonNullable<Changes["status"]>[0]>}`);
      case "currentPeriodEnd":
        return format.dateTime(new Date(String(value)), { dateStyle: "medium", timeStyle: "short" });
      case "seats":
        return format.number(Number(value));
      case "cancelAtPeriodEnd":
      case "outOfOrder":
        return words(value === true ? "changes.yes" : "changes.no");
      case "providerSubscriptionId":
        return String(value);
      default:
        return field satisfies never;
    }
  };
  const entries = Object.entries(changes) as [keyof Changes, [unknown, unknown]][];
  return Promise.all(
    entries.map(async ([field, [before, after]]) => ({
      field: words(`changes.${field}`),
      before: await say(field, before),
      after: await say(field, after),
    })),
  );
}

/** Before and after, side by side. */
export async function ChangesTable({ changes }: { changes: Changes }) {
  const [words, rows] = await Promise.all([getTranslations("adminSubscriptions"), changesInWords(changes)]);
  return (
    <table className="mt-2 w-full max-w-xl text-sm">
      <caption className="sr-only">{words("changes.title")}</caption>
      <thead>
        <tr className="text-left text-muted">
          <th scope="col" className="py-1 pr-4 font-normal">
            {words("changes.field")}
          </th>
          <th scope="col" className="py-1 pr-4 font-normal">
            {words("changes.before")}
          </th>
          <th scope="col" className="py-1 font-normal">
            {words("changes.after")}
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
