import { getFormatter, getTranslations } from "next-intl/server";
import type { z } from "zod";
import type { listDeliveries } from "../../../../operations/webhooks/list-deliveries.ts";
import { DottedName } from "../../../../ui/dotted-name.tsx";
import { Cell, MainCell, Row, Table } from "../../../../ui/table.tsx";
import { Time } from "../../../../ui/time.tsx";
import { failureTexts } from "../../../gate/failure-text.ts";
import { DeliveryStatusLabel } from "./delivery-status-label.tsx";

type Delivery = z.output<typeof listDeliveries.output>["items"][number];

export async function DeliveryTable({ deliveries }: { deliveries: readonly Delivery[] }) {
  const [t, format, failureText] = await Promise.all([
    getTranslations("adminWebhooks"),
    getFormatter(),
    failureTexts(),
  ]);
  return (
    <Table
      label={t("log")}
      columns={[
        { label: t("columns.event") },
        { label: t("columns.status") },
        { label: t("columns.slot"), from: "md" },
        { label: t("columns.attempts"), align: "end", from: "md" },
        { label: t("columns.received"), align: "end", from: "sm" },
      ]}
    >
      {deliveries.map((delivery) => (
        <Row key={delivery.id}>
          <MainCell
            href={`/admin/webhooks/${delivery.id}`}
            wraps
            className="max-sm:text-sm"
            description={
              delivery.status === "failed" && delivery.lastError !== null
                ? failureText({ reason: delivery.lastReason, error: delivery.lastError })
                : delivery.eventId
            }
          >
            <DottedName name={delivery.eventType} />
          </MainCell>
          <Cell>
            <DeliveryStatusLabel status={delivery.status} />
          </Cell>
          <Cell from="md" className="whitespace-nowrap">
            {delivery.provider}
          </Cell>
          <Cell from="md" align="end">
            {format.number(delivery.attempts)}
          </Cell>
          <Cell from="sm" align="end">
            <span className="relative">
              <Time at={delivery.receivedAt} />
            </span>
          </Cell>
        </Row>
      ))}
    </Table>
  );
}
