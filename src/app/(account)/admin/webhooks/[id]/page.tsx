import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { getFormatter, getTranslations } from "next-intl/server";
import { cache } from "react";
import { DeliveryId } from "../../../../../operations/webhooks/delivery-view.ts";
import { showDelivery } from "../../../../../operations/webhooks/show-delivery.ts";
import { Card } from "../../../../../ui/card.tsx";
import { DescriptionItem, DescriptionList } from "../../../../../ui/description-list.tsx";
import { PageHeader } from "../../../../../ui/page-header.tsx";
import { Time } from "../../../../../ui/time.tsx";
import { read, requireAdmin } from "../../../../gate/read.ts";
import { pageTitle, withRefusalPage } from "../../../../gate/with-refusal-page.tsx";
import { parseParam, type SearchParams, searchText } from "../../parse-param.ts";
import { DeliveryStatusLabel } from "../delivery-status-label.tsx";
import { History } from "./history.tsx";
import { PayloadCard, SearchText } from "./payload-card.tsx";
import { ReplayCard } from "./replay-card.tsx";

type Props = { params: Promise<{ id: string }>; searchParams: SearchParams };

const loadDelivery = cache(async (id: string) => {
  await requireAdmin();
  return DeliveryId.safeParse(id).success ? read(showDelivery, { id }) : notFound();
});

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const t = await getTranslations("adminWebhooks");
  return pageTitle(loadDelivery((await params).id), t("delivery.title"));
}

export default withRefusalPage(async function DeliveryPage({ params, searchParams }: Props) {
  const [{ id }, query, t, format] = await Promise.all([
    params,
    searchParams,
    getTranslations("adminWebhooks"),
    getFormatter(),
  ]);
  const delivery = await loadDelivery(id);
  return (
    <>
      <PageHeader
        back={{ href: "/admin/webhooks", label: t("title") }}
        title={delivery.eventType}
        description={t("delivery.number", { id: delivery.id })}
      />
      <div className="flex flex-col gap-6">
        <Card title={t("delivery.state")}>
          <DescriptionList>
            <DescriptionItem label={t("columns.status")}>
              <DeliveryStatusLabel status={delivery.status} />
            </DescriptionItem>
            <DescriptionItem label={t("columns.slot")}>{delivery.provider}</DescriptionItem>
            <DescriptionItem label={t("columns.attempts")}>
              {format.number(delivery.attempts)}
            </DescriptionItem>
            <DescriptionItem label={t("columns.received")}>
              <Time at={delivery.receivedAt} />
            </DescriptionItem>
            {delivery.completedAt && (
              <DescriptionItem
                label={t(delivery.status === "failed" ? "delivery.failed" : "delivery.completed")}
              >
                <Time at={delivery.completedAt} />
              </DescriptionItem>
            )}
            {delivery.nextAttemptAt && (
              <DescriptionItem label={t("delivery.nextAttempt")}>
                <Time at={delivery.nextAttemptAt} />
              </DescriptionItem>
            )}
            <DescriptionItem label={t("filters.eventId")}>
              <code className="break-all font-mono text-sm">{delivery.eventId}</code>
            </DescriptionItem>
          </DescriptionList>
        </Card>
        <ReplayCard id={delivery.id} status={delivery.status} />
        <Card title={t("history.title")}>
          <History delivery={delivery} />
        </Card>
        <PayloadCard
          id={delivery.id}
          payload={delivery.payload}
          find={parseParam(SearchText, searchText(query.find))}
        />
      </div>
    </>
  );
});
