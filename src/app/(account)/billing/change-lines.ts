import { getFormatter, getTranslations } from "next-intl/server";
import type { z } from "zod";
import type { ChangesView } from "../../../operations/subscriptions/changes-view.ts";
import { planName } from "./plans.ts";

type Changes = z.output<typeof ChangesView>;

/** `before: null`: there was no value before. */
type Line = { label: string; before: string | null; after: string };

/**
 * The changes that a customer cares about, in their language; that one needs review is for administrators.
 */
export async function changeLines(changes: Changes): Promise<Line[]> {
  const [t, format] = await Promise.all([getTranslations("billing"), getFormatter()]);
  const lines: Line[] = [];
  const line = async <Value>(
    field: "planId" | "status" | "seats" | "currentPeriodEnd" | "cancelAtPeriodEnd",
    change: [Value | null, Value | null] | undefined,
    formatValue: (value: Value) => string | Promise<string>,
  ) => {
    if (!change) return;
    const [before, after] = change;
    lines.push({
      label: t(`history.fields.${field}`),
      before: before === null ? null : await formatValue(before),
      after: after === null ? t("history.unknown") : await formatValue(after),
    });
  };
  await line("planId", changes.planId, planName);
  await line("status", changes.status, (status) => t(`status.${status}`));
  await line("seats", changes.seats, (seats) => format.number(seats));
  const [from, until] = changes.currentPeriodEnd ?? [];
  // Providers also move it by seconds, which only the time of day shows.
  const timeStyle = from?.slice(0, 10) === until?.slice(0, 10) ? "long" : undefined;
  await line("currentPeriodEnd", changes.currentPeriodEnd, (text) =>
    format.dateTime(new Date(text), { dateStyle: "long", ...(timeStyle && { timeStyle }) }),
  );
  await line("cancelAtPeriodEnd", changes.cancelAtPeriodEnd, (isEnding) =>
    t(isEnding ? "history.ends" : "history.goesOn"),
  );
  return lines;
}
