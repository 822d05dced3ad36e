import { getFormatter, getTranslations } from "next-intl/server";
import type { DELIVERY_STATUSES } from "../../../../domain/deliveries/delivery.ts";
import type { Slot } from "../../../../domain/slot.ts";
import { showStatistics } from "../../../../operations/webhooks/show-statistics.ts";
import { BarChart } from "../../../../ui/bar-chart.tsx";
import { Card } from "../../../../ui/card.tsx";
import { read } from "../../../gate/read.ts";

/** Bottom to top: what needs attention is at the bottom, where it is seen first. */
const STACK_ORDER = [
  "failed",
  "pending",
  "successful",
] as const satisfies (typeof DELIVERY_STATUSES)[number][];

const TONES = { failed: "bad", pending: "warn", successful: "good" } as const;

export async function LastDay({ provider }: { provider: Slot | null }) {
  const [t, format, { hours, isEstimate }] = await Promise.all([
    getTranslations("adminWebhooks"),
    getFormatter(),
    read(showStatistics, { provider }),
  ]);
  const total = (status: (typeof STACK_ORDER)[number]) => hours.reduce((sum, hour) => sum + hour[status], 0);
  const number = (count: number, status: (typeof STACK_ORDER)[number]) =>
    isEstimate && status === "successful" && count > 0 ? t("lastDay.about", { count }) : format.number(count);
  const counted = STACK_ORDER.map((status) => [status, number(total(status), status)]);
  const hourOf = (at: Date) => format.dateTime(at, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  return (
    <Card title={t("lastDay.title")} description={t(isEstimate ? "lastDay.estimated" : "lastDay.hours")}>
      <BarChart
        summary={t("lastDay.summary", Object.fromEntries(counted))}
        series={STACK_ORDER.map((status) => ({
          tone: TONES[status],
          label: t(`status.${status}`),
          total: number(total(status), status),
        }))}
        columns={hours.map((hour) => ({
          label: hourOf(hour.startsAt),
          counts: STACK_ORDER.map((status) => hour[status]),
          title: t("lastDay.hour", {
            hour: hourOf(hour.startsAt),
            ...Object.fromEntries(STACK_ORDER.map((status) => [status, number(hour[status], status)])),
          } as Record<"hour" | (typeof STACK_ORDER)[number], string>),
        }))}
        labelEvery={6}
        formatNumber={(count) => format.number(count)}
        labels={{ asTable: t("lastDay.asTable"), column: t("lastDay.column") }}
      />
    </Card>
  );
}
