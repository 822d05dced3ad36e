import { getFormatter, getTranslations } from "next-intl/server";
import type { DELIVERY_STATUSES } from "../../../../domain/delivery.ts";
import type { Slot } from "../../../../domain/slot.ts";
import { showStatistics } from "../../../../operations/webhooks/show-statistics.ts";
import { BarChart } from "../../../../ui/bar-chart.tsx";
import { Card } from "../../../../ui/card.tsx";
import { read } from "../../../gate/read.ts";

/** From the ground up: what needs somebody stands on it, and is seen first. */
const STACKED = ["failed", "pending", "successful"] as const satisfies (typeof DELIVERY_STATUSES)[number][];

const TONES = { failed: "bad", pending: "warn", successful: "good" } as const;

export async function LastDay({ provider }: { provider: Slot | null }) {
  const [words, format, { hours, isEstimate }] = await Promise.all([
    getTranslations("adminWebhooks"),
    getFormatter(),
    read(showStatistics, { provider }),
  ]);
  const total = (status: (typeof STACKED)[number]) => hours.reduce((sum, hour) => sum + hour[status], 0);
  const number = (count: number, status: (typeof STACKED)[number]) =>
    isEstimate && status === "successful" && count > 0
      ? words("lastDay.about", { count })
      : format.number(count);
  const counted = STACKED.map((status) => [status, number(total(status), status)]);
  const hourOf = (at: Date) => format.dateTime(at, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  return (
    <Card title={words("lastDay.title")} about={words(isEstimate ? "lastDay.estimated" : "lastDay.hours")}>
      <BarChart
        summary={words("lastDay.summary", Object.fromEntries(counted))}
        series={STACKED.map((status) => ({
          tone: TONES[status],
          label: words(`status.${status}`),
          total: number(total(status), status),
        }))}
        columns={hours.map((hour) => ({
          label: hourOf(hour.startsAt),
          counts: STACKED.map((status) => hour[status]),
          title: words("lastDay.hour", {
            hour: hourOf(hour.startsAt),
            ...Object.fromEntries(STACKED.map((status) => [status, number(hour[status], status)])),
          } as Record<"hour" | (typeof STACKED)[number], string>),
        }))}
        labelEvery={6}
        formatNumber={(count) => format.number(count)}
        words={{ asTable: words("lastDay.asTable"), column: words("lastDay.column") }}
      />
    </Card>
  );
}
