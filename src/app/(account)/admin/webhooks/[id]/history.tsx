import Link from "next/link";
import { getFormatter, getTranslations } from "next-intl/server";
import type { DeliveryInDetail } from "../../../../../operations/webhooks/show-delivery.ts";
import { Timeline, TimelineEntry } from "../../../../../ui/timeline.tsx";
import { failureTexts } from "../../../../gate/failure-text.ts";
import { ChangesTable } from "../../changes-table.tsx";

/** The receipt, then each attempt with what it changed. */
export async function History({ delivery }: { delivery: DeliveryInDetail }) {
  const [t, format, failureText] = await Promise.all([
    getTranslations("adminWebhooks"),
    getFormatter(),
    failureTexts(),
  ]);
  const { status, attemptLog, receivedAt, nextAttemptAt, lastReason } = delivery;
  const advice = status === "failed" ? adviceFor(lastReason) : null;
  return (
    <Timeline>
      <TimelineEntry tone="neutral" title={t("history.received")} at={receivedAt} />
      {attemptLog.map((attempt) => (
        <TimelineEntry
          key={attempt.attempt}
          tone={attempt.outcome === "successful" ? "good" : "bad"}
          title={t("history.attempt", {
            number: attempt.attempt,
            source: t(`history.by.${attempt.source}`),
            outcome: t(`history.outcome.${attempt.outcome}`),
          })}
          at={attempt.startedAt}
          description={t("history.took", { duration: inMs(format, attempt.durationMs) })}
        >
          {attempt.outcome === "failed" && (
            <p className="mt-1 break-words text-bad">{failureText(attempt)}</p>
          )}
          {attempt.changes === null ? (
            attempt.outcome === "successful" && <p className="mt-1 text-sm">{t("history.nothing")}</p>
          ) : (
            <>
              <ChangesTable changes={attempt.changes} />
              {attempt.subscriptionId !== null && (
                <p className="mt-2 text-sm">
                  <Link
                    href={`/admin/webhooks?subscriptionId=${attempt.subscriptionId}`}
                    prefetch={false}
                    className="inline-block py-0.5 text-accent"
                  >
                    {t("history.others")}
                  </Link>
                </p>
              )}
            </>
          )}
        </TimelineEntry>
      ))}
      {status === "failed" && nextAttemptAt !== null && (
        <TimelineEntry tone="warn" title={t("history.next")} at={nextAttemptAt} />
      )}
      {(status === "pending" || nextAttemptAt === null) && status !== "successful" && (
        <li className="pl-6 text-muted">{t(status === "pending" ? "history.running" : "history.givenUp")}</li>
      )}
      {advice !== null && <li className="pl-6">{t(`history.advice.${advice}`)}</li>}
    </Timeline>
  );
}

/** What the reader can do, beyond waiting. */
function adviceFor(reason: DeliveryInDetail["lastReason"]): "user" | "price" | null {
  switch (reason) {
    case "user_not_found":
    case "user_not_named":
      return "user";
    case "plan_unknown":
    case "price_unknown":
      return "price";
    default:
      return null;
  }
}

function inMs(format: Awaited<ReturnType<typeof getFormatter>>, durationMs: number): string {
  const isLong = durationMs >= 1_000;
  return format.number(isLong ? durationMs / 1_000 : durationMs, {
    style: "unit",
    unit: isLong ? "second" : "millisecond",
    maximumFractionDigits: durationMs < 10 || isLong ? 1 : 0,
  });
}
