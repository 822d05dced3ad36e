import { X } from "lucide-react";
import { getTranslations } from "next-intl/server";
import { DELIVERY_STATUSES } from "../../../../domain/deliveries/delivery.ts";
import { SLOTS } from "../../../../domain/slot.ts";
import { listDeliveries } from "../../../../operations/webhooks/list-deliveries.ts";
import { LinkButton } from "../../../../ui/button.tsx";
import { EmptyState } from "../../../../ui/empty-state.tsx";
import { Field, Select } from "../../../../ui/field.tsx";
import { Filters } from "../../../../ui/filters.tsx";
import { LiveToggle } from "../../../../ui/live-toggle.tsx";
import { PageHeader } from "../../../../ui/page-header.tsx";
import { Pager } from "../../../../ui/pager.tsx";
import { read, requireAdmin } from "../../../gate/read.ts";
import { withRefusalPage } from "../../../gate/with-refusal-page.tsx";
import { titled } from "../../../titled.ts";
import { parseParam, type SearchParams } from "../parse-param.ts";
import { DeliveryTable } from "./delivery-table.tsx";
import { LastDay } from "./last-day.tsx";

const PATH = "/admin/webhooks";
const PAGE_SIZE = 25;
const { shape } = listDeliveries.input;

export const generateMetadata = titled("adminWebhooks.title");

export default withRefusalPage(async function WebhooksPage({ searchParams }: { searchParams: SearchParams }) {
  await requireAdmin();
  const [t, params] = await Promise.all([getTranslations("adminWebhooks"), searchParams]);
  const filter = {
    provider: parseParam(shape.provider, params.provider),
    status: parseParam(shape.status, params.status),
    type: parseParam(shape.type, params.type),
    eventId: parseParam(shape.eventId, params.eventId),
    subscriptionId: parseParam(shape.subscriptionId, params.subscriptionId),
  };
  const cursor = parseParam(shape.cursor, params.cursor);
  const { items, nextCursor } = await read(listDeliveries, { ...filter, cursor, limit: PAGE_SIZE });
  const values = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== null)) as Values;
  return (
    <>
      <PageHeader
        title={t("title")}
        action={
          cursor === null && (
            <LiveToggle
              labels={{
                label: t("live.label"),
                on: t("live.on"),
                off: t("live.off"),
                unreachable: t("live.unreachable"),
              }}
            />
          )
        }
      />
      <div className="flex flex-col gap-6">
        <LastDay provider={filter.provider} />
        <section>
          <h2 className="sr-only">{t("log")}</h2>
          <LogFilters values={values} types={items.map(({ eventType }) => eventType)} />
          {items.length === 0 ? (
            <NoDeliveries isNarrowed={Object.keys(values).length > 0} hasMore={nextCursor !== null} />
          ) : (
            <DeliveryTable deliveries={items} />
          )}
          <Pager path={PATH} query={values} cursor={cursor} nextCursor={nextCursor} />
        </section>
      </div>
    </>
  );
});

type Values = Record<string, string>;

async function LogFilters({ values, types }: { values: Values; types: readonly string[] }) {
  const t = await getTranslations("adminWebhooks");
  const any = { value: "", label: t("filters.any") };
  return (
    <Filters
      path={PATH}
      values={values}
      submit={t("filters.submit")}
      wait={t("filters.wait")}
      className="mb-4"
    >
      <Select
        label={t("columns.slot")}
        name="provider"
        defaultValue={values.provider ?? ""}
        options={[any, ...SLOTS.map((slot) => ({ value: slot, label: slot }))]}
        className="min-w-36 grow sm:grow-0"
      />
      <Select
        label={t("columns.status")}
        name="status"
        defaultValue={values.status ?? ""}
        options={[
          any,
          ...DELIVERY_STATUSES.map((status) => ({ value: status, label: t(`status.${status}`) })),
        ]}
        className="min-w-36 grow sm:grow-0"
      />
      <Field
        label={t("filters.type")}
        name="type"
        defaultValue={values.type ?? ""}
        list="types"
        maxLength={255}
        autoComplete="off"
        spellCheck={false}
        className="min-w-[min(13rem,100%)] grow"
      />
      <datalist id="types">
        {[...new Set(types)].sort().map((type) => (
          <option key={type} value={type} />
        ))}
      </datalist>
      <Field
        label={t("filters.eventId")}
        name="eventId"
        defaultValue={values.eventId ?? ""}
        maxLength={255}
        autoComplete="off"
        spellCheck={false}
        className="min-w-[min(13rem,100%)] grow"
      />
      {values.subscriptionId && (
        <p className="flex basis-full flex-wrap items-center gap-3">
          <input type="hidden" name="subscriptionId" value={values.subscriptionId} />
          {t("filters.ofSubscription")}
          <LinkButton href={PATH}>
            <X aria-hidden="true" size={16} />
            {t("filters.all")}
          </LinkButton>
        </p>
      )}
    </Filters>
  );
}

async function NoDeliveries({ isNarrowed, hasMore }: { isNarrowed: boolean; hasMore: boolean }) {
  const t = await getTranslations("adminWebhooks");
  if (hasMore) return <EmptyState title={t("none.here")} description={t("none.further")} />;
  if (!isNarrowed) return <EmptyState title={t("none.yet")} description={t("none.first")} />;
  return (
    <EmptyState
      title={t("none.found")}
      description={t("none.whole")}
      action={<LinkButton href={PATH}>{t("filters.all")}</LinkButton>}
    />
  );
}
