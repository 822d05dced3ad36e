import { ArrowLeft } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { notFound } from "next/navigation";
import { getFormatter, getTranslations } from "next-intl/server";
import { DeliveryId } from "../../../../../operations/webhooks/delivery.ts";
import { showDelivery } from "../../../../../operations/webhooks/show-delivery.ts";
import { Card } from "../../../../../ui/card.tsx";
import { Fact, Facts } from "../../../../../ui/facts.tsx";
import { PageHeader } from "../../../../../ui/page-header.tsx";
import { Time } from "../../../../../ui/time.tsx";
import { administrator, read } from "../../../../gate/read.ts";
import { type Given, given } from "../../given.ts";
import { DeliveryState } from "../delivery-state.tsx";
import { History } from "./history.tsx";
import { Find, PayloadCard } from "./payload-card.tsx";
import { ReplayCard } from "./replay-card.tsx";

type Props = { params: Promise<{ id: string }>; searchParams: Given };

export async function generateMetadata(): Promise<Metadata> {
  const words = await getTranslations("adminWebhooks");
  return { title: words("delivery.title") };
}

export default async function DeliveryPage({ params, searchParams }: Props) {
  await administrator();
  const [{ id }, asked, words, format] = await Promise.all([
    params,
    searchParams,
    getTranslations("adminWebhooks"),
    getFormatter(),
  ]);
  const found = DeliveryId.safeParse(id).success ? await read(showDelivery, { id }) : notFound();
  return (
    <>
      <Link href="/admin/webhooks" className="mb-2 inline-flex items-center gap-1 py-1 text-muted text-sm">
        <ArrowLeft aria-hidden="true" size={14} />
        {words("title")}
      </Link>
      <PageHeader title={found.eventType} about={words("delivery.number", { id: found.id })} />
      <div className="flex flex-col gap-6">
        <Card title={words("delivery.state")}>
          <Facts>
            <Fact label={words("columns.status")}>
              <DeliveryState status={found.status} />
            </Fact>
            <Fact label={words("columns.slot")}>{found.provider}</Fact>
            <Fact label={words("columns.attempts")}>{format.number(found.attempts)}</Fact>
            <Fact label={words("columns.received")}>
              <Time at={found.receivedAt} />
            </Fact>
            {found.completedAt && (
              <Fact label={words("delivery.completed")}>
                <Time at={found.completedAt} />
              </Fact>
            )}
            {found.nextAttemptAt && (
              <Fact label={words("delivery.nextAttempt")}>
                <Time at={found.nextAttemptAt} />
              </Fact>
            )}
            <Fact label={words("filters.eventId")}>
              <code className="break-all font-mono text-sm">{found.eventId}</code>
            </Fact>
          </Facts>
        </Card>
        <ReplayCard id={found.id} status={found.status} />
        <Card title={words("history.title")}>
          <History delivery={found} />
        </Card>
        <PayloadCard id={found.id} payload={found.payload} find={given(Find, asked.find)} />
      </div>
    </>
  );
}
