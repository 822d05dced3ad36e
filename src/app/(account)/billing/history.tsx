import { ArrowRight } from "lucide-react";
import { getTranslations } from "next-intl/server";
import type { z } from "zod";
import { showHistory } from "../../../operations/subscriptions/show-history.ts";
import { Card } from "../../../ui/card.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { Pager } from "../../../ui/pager.tsx";
import type { Tone } from "../../../ui/status.tsx";
import { Timeline, TimelineEntry } from "../../../ui/timeline.tsx";
import { read } from "../../gate/read.ts";
import { changeLines } from "./change-lines.ts";
import { EarlierSubscriptions } from "./earlier-subscriptions.tsx";
import type { Subscription } from "./standing.ts";

type Entry = z.output<typeof showHistory.output>["items"][number];

const TONES: Record<Entry["kind"], Tone> = { created: "good", changed: "neutral", ended: "warn" };

/** What the provider told us of a subscription, and what that changed. */
export async function History({
  of,
  all,
  cursor,
}: {
  of: Subscription | null;
  all: readonly Subscription[];
  cursor: string | null;
}) {
  const words = await getTranslations("billing.history");
  if (of === null) {
    return (
      <Card title={words("title")}>
        <Empty title={words("empty")} about={words("emptyAbout")} />
      </Card>
    );
  }
  const page = await read(showHistory, { id: of.id, cursor });
  return (
    <Card title={words("title")} about={words("about")}>
      <EarlierSubscriptions all={all} shown={of} />
      {page.items.length === 0 ? (
        <p className="text-muted">{words("nothing")}</p>
      ) : (
        <Timeline>
          {page.items.map((entry) => (
            <HistoryEntry key={entry.id} entry={entry} />
          ))}
        </Timeline>
      )}
      <Pager
        path="/billing"
        place="history"
        query={all[0]?.id === of.id ? {} : { subscription: of.id }}
        cursor={cursor}
        nextCursor={page.nextCursor}
      />
    </Card>
  );
}

async function HistoryEntry({ entry }: { entry: Entry }) {
  const words = await getTranslations("billing.history");
  const lines = await changeLines(entry.changes);
  return (
    <TimelineEntry
      tone={TONES[entry.kind]}
      title={words(`kinds.${entry.kind}`)}
      at={entry.at}
      about={
        entry.source === "event"
          ? words.rich("told", {
              event: entry.eventType ?? "",
              code: (text) => <code className="wrap-anywhere">{text}</code>,
            })
          : words("compared")
      }
    >
      <dl className="mt-2 grid grid-cols-[max-content_1fr] gap-x-4 gap-y-1 text-sm">
        {lines.map(({ label, before, after }) => (
          <div key={label} className="contents">
            <dt className="text-muted">{label}</dt>
            <dd className="flex flex-wrap items-center gap-x-1.5 wrap-anywhere">
              {before !== null && (
                <>
                  <span className="text-muted">{before}</span>
                  <ArrowRight aria-label={words("becomes")} size={14} className="text-muted" />
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
