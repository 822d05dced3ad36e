import { ArrowRight } from "lucide-react";
import { getTranslations } from "next-intl/server";
import type { z } from "zod";
import type { showHistory } from "../../../operations/subscriptions/show-history.ts";
import { Card } from "../../../ui/card.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { Pager } from "../../../ui/pager.tsx";
import type { Tone } from "../../../ui/status.tsx";
import { Timeline, TimelineEntry } from "../../../ui/timeline.tsx";
import { changeLines } from "./change-lines.ts";
import type { Subscription } from "./subscription-state.ts";
import { SubscriptionTabs } from "./subscription-tabs.tsx";

type Entry = z.output<typeof showHistory.output>["items"][number];

const TONES: Record<Entry["kind"], Tone> = { created: "good", changed: "neutral", ended: "warn" };

/** What changed a subscription, and when. */
export async function History({
  of,
  page,
  all,
  cursor,
  query,
}: {
  of: Subscription | null;
  /** `null`: without a subscription. */
  page: z.input<typeof showHistory.output> | null;
  all: readonly Subscription[];
  cursor: string | null;
  /** The other parameters of the page's address. */
  query: Record<string, string>;
}) {
  const t = await getTranslations("billing.history");
  if (of === null || page === null) {
    return (
      <Card title={t("title")}>
        <EmptyState title={t("empty")} description={t("emptyAbout")} />
      </Card>
    );
  }
  return (
    <Card title={t("title")} description={t("about")}>
      <SubscriptionTabs all={all} shown={of} />
      {page.items.length === 0 ? (
        <p className="text-muted">{t("nothing")}</p>
      ) : (
        <Timeline>
          {page.items.map((entry) => (
            <HistoryEntry key={entry.id} entry={entry} />
          ))}
        </Timeline>
      )}
      <Pager path="/billing" place="history" query={query} cursor={cursor} nextCursor={page.nextCursor} />
    </Card>
  );
}

async function HistoryEntry({ entry }: { entry: Entry }) {
  const t = await getTranslations("billing.history");
  const lines = await changeLines(entry.changes);
  if (lines.length === 0) return null;
  return (
    <TimelineEntry tone={TONES[entry.kind]} title={t(`kinds.${entry.kind}`)} at={entry.at}>
      <dl className="mt-2 grid grid-cols-[max-content_1fr] gap-x-4 gap-y-1 text-sm">
        {lines.map(({ label, before, after }) => (
          <div key={label} className="contents">
            <dt className="text-muted">{label}</dt>
            <dd className="flex flex-wrap items-center gap-x-1.5 wrap-anywhere">
              {before !== null && (
                <>
                  <span className="text-muted">{before}</span>
                  <ArrowRight aria-label={t("becomes")} size={14} className="text-muted" />
                </>
              )}
              <span>{after}</span>
            </dd>
          </div>
        ))}
      </dl>
    </TimelineEntry>
  );
}
