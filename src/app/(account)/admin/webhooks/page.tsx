import { X } from "lucide-react";
import type { Metadata } from "next";
import { getFormatter, getTranslations } from "next-intl/server";
import type { z } from "zod";
import { DELIVERY_STATUSES } from "../../../../domain/delivery.ts";
import { SLOTS } from "../../../../domain/slot.ts";
import { listDeliveries } from "../../../../operations/webhooks/list-deliveries.ts";
import { LinkButton } from "../../../../ui/button.tsx";
import { Empty } from "../../../../ui/empty.tsx";
import { Choice, Field } from "../../../../ui/field.tsx";
import { Filters } from "../../../../ui/filters.tsx";
import { Live } from "../../../../ui/live.tsx";
import { PageHeader } from "../../../../ui/page-header.tsx";
import { Pager } from "../../../../ui/pager.tsx";
import { Cell, MainCell, Row, Table } from "../../../../ui/table.tsx";
import { Time } from "../../../../ui/time.tsx";
import { administrator, read } from "../../../gate/read.ts";
import { type Given, given } from "../given.ts";
import { DeliveryState } from "./delivery-state.tsx";
import { LastDay } from "./last-day.tsx";

const PATH = "/admin/webhooks";
const PAGE_SIZE = 25;
const { shape } = listDeliveries.input;

export async function generateMetadata(): Promise<Metadata> {
  const words = await getTranslations("adminWebhooks");
  return { title: words("title") };
}

export default async function WebhooksPage({ searchParams }: { searchParams: Given }) {
  await administrator();
  const [words, params] = await Promise.all([getTranslations("adminWebhooks"), searchParams]);
  const filter = {
    provider: given(shape.provider, params.provider),
    status: given(shape.status, params.status),
    type: given(shape.type, params.type),
    eventId: given(shape.eventId, params.eventId),
    subscriptionId: given(shape.subscriptionId, params.subscriptionId),
  };
  const cursor = given(shape.cursor, params.cursor);
  const { items, nextCursor } = await read(listDeliveries, { ...filter, cursor, limit: PAGE_SIZE });
  const values = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== null)) as Values;
  return (
    <>
      <PageHeader
        title={words("title")}
        action={
          cursor === null && (
            <Live
              words={{
                label: words("live.label"),
                on: words("live.on"),
                off: words("live.off"),
                unreachable: words("live.unreachable"),
              }}
            />
          )
        }
      />
      <div className="flex flex-col gap-6">
        <LastDay provider={filter.provider} />
        <section>
          <h2 className="sr-only">{words("log")}</h2>
          <Narrowing values={values} types={items.map(({ eventType }) => eventType)} />
          {items.length === 0 ? (
            <Nothing isNarrowed={Object.keys(values).length > 0} hasMore={nextCursor !== null} />
          ) : (
            <Deliveries deliveries={items} />
          )}
          <Pager path={PATH} query={values} cursor={cursor} nextCursor={nextCursor} />
        </section>
      </div>
    </>
  );
}

type Values = Record<string, string>;

async function Narrowing({ values, types }: { values: Values; types: readonly string[] }) {
  const words = await getTranslations("adminWebhooks");
  const any = { value: "", label: words("filters.any") };
  return (
    <Filters
      path={PATH}
      values={values}
      submit={words("filters.submit")}
      wait={words("filters.wait")}
      className="mb-4"
    >
      <Choice
        label={words("columns.slot")}
        name="provider"
        defaultValue={values.provider ?? ""}
        options={[any, ...SLOTS.map((slot) => ({ value: slot, label: slot }))]}
        className="min-w-36 grow sm:grow-0"
      />
      <Choice
        label={words("columns.status")}
        name="status"
        defaultValue={values.status ?? ""}
        options={[
          any,
          ...DELIVERY_STATUSES.map((status) => ({ value: status, label: words(`status.${status}`) })),
        ]}
        className="min-w-36 grow sm:grow-0"
      />
      <Field
        label={words("filters.type")}
        name="type"
        defaultValue={values.type ?? ""}
        list="types"
        maxLength={255}
        autoComplete="off"
        spellCheck={false}
        className="min-w-52 grow"
      />
      <datalist id="types">
        {[...new Set(types)].sort().map((type) => (
          <option key={type} value={type} />
        ))}
      </datalist>
      <Field
        label={words("filters.eventId")}
        name="eventId"
        defaultValue={values.eventId ?? ""}
        maxLength={255}
        autoComplete="off"
        spellCheck={false}
        className="min-w-52 grow"
      />
      {values.subscriptionId && (
        <p className="flex basis-full flex-wrap items-center gap-3">
          <input type="hidden" name="subscriptionId" value={values.subscriptionId} />
          {words("filters.ofSubscription")}
          <LinkButton href={PATH}>
            <X aria-hidden="true" size={16} />
            {words("filters.all")}
          </LinkButton>
        </p>
      )}
    </Filters>
  );
}

async function Nothing({ isNarrowed, hasMore }: { isNarrowed: boolean; hasMore: boolean }) {
  const words = await getTranslations("adminWebhooks");
  if (hasMore) return <Empty title={words("none.here")} about={words("none.further")} />;
  if (!isNarrowed) return <Empty title={words("none.yet")} about={words("none.first")} />;
  return (
    <Empty
      title={words("none.found")}
      about={words("none.whole")}
      action={<LinkButton href={PATH}>{words("filters.all")}</LinkButton>}
    />
  );
}

type Delivery = z.output<typeof listDeliveries.output>["items"][number];

async function Deliveries({ deliveries }: { deliveries: readonly Delivery[] }) {
  const [words, format] = await Promise.all([getTranslations("adminWebhooks"), getFormatter()]);
  return (
    <Table
      label={words("log")}
      columns={[
        { label: words("columns.event") },
        { label: words("columns.status") },
        { label: words("columns.slot"), from: "md" },
        { label: words("columns.attempts"), align: "end", from: "md" },
        { label: words("columns.received"), align: "end", from: "sm" },
      ]}
    >
      {deliveries.map((one) => (
        <Row key={one.id}>
          <MainCell
            href={`${PATH}/${one.id}`}
            about={one.status === "failed" && one.lastError !== null ? one.lastError : one.eventId}
          >
            {one.eventType}
          </MainCell>
          <Cell>
            <DeliveryState status={one.status} />
          </Cell>
          <Cell from="md" className="whitespace-nowrap">
            {one.provider}
          </Cell>
          <Cell from="md" align="end">
            {format.number(one.attempts)}
          </Cell>
          <Cell from="sm" align="end">
            <span className="relative">
              <Time at={one.receivedAt} />
            </span>
          </Cell>
        </Row>
      ))}
    </Table>
  );
}
