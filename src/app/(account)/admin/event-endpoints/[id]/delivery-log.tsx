import { getFormatter, getTranslations } from "next-intl/server";
import type { z } from "zod";
import type {
  listEndpointDeliveries,
  OutboundDelivery,
} from "../../../../../operations/event-endpoints/list-endpoint-deliveries.ts";
import { ActionForm } from "../../../../../ui/action-form.tsx";
import { EmptyState } from "../../../../../ui/empty-state.tsx";
import { Pager } from "../../../../../ui/pager.tsx";
import { RowSubmitButton } from "../../../../../ui/row-submit-button.tsx";
import { StatusMessage } from "../../../../../ui/status-message.tsx";
import { Cell, Row, Table } from "../../../../../ui/table.tsx";
import { Time } from "../../../../../ui/time.tsx";
import { formAction } from "../../../../gate/form-action.ts";
import { replayEventDeliveries } from "../actions.ts";
import { OutboundStatus } from "../endpoint-status.tsx";
import { outboundFailureTexts } from "../failure-text.ts";

/** What was sent, newest first. One form for all rows, so that the result stays when its row moves on. */
export async function DeliveryLog({
  endpointId,
  page: { items, nextCursor },
  cursor,
}: {
  endpointId: string;
  page: z.input<typeof listEndpointDeliveries.output>;
  cursor: string | null;
}) {
  const t = await getTranslations("adminEventEndpoints.log");
  return (
    <section id="log">
      <ActionForm action={formAction(replayEventDeliveries)} className="flex flex-col gap-3">
        <input type="hidden" name="id" value={endpointId} />
        <div className="flex flex-wrap items-center justify-between gap-3">
          <h2 className="font-semibold text-lg">{t("title")}</h2>
          {items.length > 0 && (
            <RowSubmitButton name="deliveryId" id="" label={t("replayAll")}>
              {t("replayAll")}
            </RowSubmitButton>
          )}
        </div>
        <StatusMessage />
        {items.length === 0 ? (
          <EmptyState title={t("none")} description={t("noneAbout")} />
        ) : (
          <LogTable deliveries={items} />
        )}
      </ActionForm>
      <Pager
        path={`/admin/event-endpoints/${endpointId}`}
        place="log"
        cursor={cursor}
        nextCursor={nextCursor}
      />
    </section>
  );
}

async function LogTable({ deliveries }: { deliveries: readonly OutboundDelivery[] }) {
  const t = await getTranslations("adminEventEndpoints.log");
  return (
    <Table
      label={t("title")}
      columns={[
        { label: t("event") },
        { label: t("result"), from: "sm" },
        { label: t("time"), align: "end", from: "sm" },
        { label: t("replay"), align: "end" },
      ]}
    >
      {deliveries.map((delivery) => (
        <Row key={delivery.id}>
          <Cell className="w-full [overflow-wrap:anywhere]">
            <span className="font-medium">{delivery.eventType}</span>
            {/* More than two columns are too wide for a phone. */}
            <span className="block sm:hidden">
              <OutboundStatus status={delivery.status} />
            </span>
            <Attempts delivery={delivery} />
          </Cell>
          <Cell from="sm">
            <OutboundStatus status={delivery.status} />
          </Cell>
          <Cell from="sm" align="end">
            <Time at={delivery.attempts.at(-1)?.at ?? delivery.createdAt} />
          </Cell>
          <Cell align="end">
            {isReplayable(delivery) && (
              <RowSubmitButton
                name="deliveryId"
                id={delivery.id}
                label={t("replayWhich", { type: delivery.eventType, id: delivery.id })}
              >
                {t("replay")}
              </RowSubmitButton>
            )}
          </Cell>
        </Row>
      ))}
    </Table>
  );
}

async function Attempts({ delivery: { attempts, nextAttemptAt } }: { delivery: OutboundDelivery }) {
  const [t, format, failureText] = await Promise.all([
    getTranslations("adminEventEndpoints.log"),
    getFormatter(),
    outboundFailureTexts(),
  ]);
  if (attempts.length === 0) return null;
  return (
    <details>
      <summary className="w-fit text-muted text-sm">{t("attempts", { count: attempts.length })}</summary>
      <ol className="mt-1 flex flex-col gap-1 text-sm">
        {attempts.map(({ attempt, at, durationMs, responseStatus, error }) => (
          <li key={attempt} className="break-words">
            <Time at={at} />
            {" · "}
            {responseStatus === null ? failureText(error) : t("response", { status: String(responseStatus) })}
            {" · "}
            {format.number(Math.round(durationMs), { style: "unit", unit: "millisecond" })}
          </li>
        ))}
        {nextAttemptAt !== null && (
          <li>
            {t("next")} <Time at={nextAttemptAt} />
          </li>
        )}
      </ol>
    </details>
  );
}

/** A pending delivery is sent anyway, and the data of a test is not kept. */
function isReplayable({ status, eventId }: OutboundDelivery): boolean {
  return status !== "pending" && !eventId.startsWith("evt_test_");
}
