import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { getTranslations } from "next-intl/server";
import { cache } from "react";
import { listEndpointDeliveries } from "../../../../../operations/event-endpoints/list-endpoint-deliveries.ts";
import { showEventEndpoint } from "../../../../../operations/event-endpoints/show-endpoint.ts";
import { PageHeader } from "../../../../../ui/page-header.tsx";
import { read, requireAdmin } from "../../../../gate/read.ts";
import { pageTitle, withRefusalPage } from "../../../../gate/with-refusal-page.tsx";
import { parseParam, type SearchParams } from "../../parse-param.ts";
import { DeleteCard, EditCard, SecretCard } from "./change-cards.tsx";
import { DeliveryLog } from "./delivery-log.tsx";
import { StateCard } from "./state-card.tsx";
import { TestCard } from "./test-card.tsx";

const PAGE_SIZE = 25;

type Props = { params: Promise<{ id: string }>; searchParams: SearchParams };

const loadEndpoint = cache(async (id: string) => {
  await requireAdmin();
  const isId = showEventEndpoint.input.shape.id.safeParse(id).success;
  return isId ? read(showEventEndpoint, { id }) : notFound();
});

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const t = await getTranslations("adminEventEndpoints");
  return pageTitle(loadEndpoint((await params).id), t("endpoint"));
}

export default withRefusalPage(async function EventEndpointPage({ params, searchParams }: Props) {
  const [{ id }, query, t] = await Promise.all([
    params,
    searchParams,
    getTranslations("adminEventEndpoints"),
  ]);
  const endpoint = await loadEndpoint(id);
  const cursor = parseParam(listEndpointDeliveries.input.shape.cursor, query.cursor);
  const deliveries = await read(listEndpointDeliveries, { id, cursor, limit: PAGE_SIZE });
  return (
    <>
      <PageHeader
        back={{ href: "/admin/event-endpoints", label: t("title") }}
        title={t("endpoint")}
        description={<span className="break-all">{endpoint.url}</span>}
      />
      <div className="flex flex-col gap-6">
        <StateCard endpoint={endpoint} />
        <TestCard endpoint={endpoint} />
        <DeliveryLog endpointId={endpoint.id} page={deliveries} cursor={cursor} />
        <EditCard endpoint={endpoint} />
        <SecretCard endpoint={endpoint} />
        <DeleteCard endpoint={endpoint} />
      </div>
    </>
  );
});
