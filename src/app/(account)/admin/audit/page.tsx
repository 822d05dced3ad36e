import { notFound } from "next/navigation";
import { getTranslations } from "next-intl/server";
import { listAuditEntries } from "../../../../operations/audit/list-audit-entries.ts";
import { LinkButton } from "../../../../ui/button.tsx";
import { EmptyState } from "../../../../ui/empty-state.tsx";
import { Field } from "../../../../ui/field.tsx";
import { Filters } from "../../../../ui/filters.tsx";
import { PageHeader } from "../../../../ui/page-header.tsx";
import { Pager } from "../../../../ui/pager.tsx";
import { read, requireAdmin } from "../../../gate/read.ts";
import { withRefusalPage } from "../../../gate/with-refusal-page.tsx";
import { titled } from "../../../titled.ts";
import { parseParam, type SearchParams } from "../parse-param.ts";
import { AuditTable } from "./audit-table.tsx";
import { DAY_LIMITS, dayRange } from "./day-range.ts";

const PATH = "/admin/audit";
const PAGE_SIZE = 25;
const { shape } = listAuditEntries.input;

export const generateMetadata = titled("adminAudit.title");

export default withRefusalPage(async function AuditPage({ searchParams }: { searchParams: SearchParams }) {
  await requireAdmin();
  const [t, params] = await Promise.all([getTranslations("adminAudit"), searchParams]);
  const filter = {
    action: parseParam(shape.action, params.action),
    actor: parseParam(shape.actor, params.actor),
    target: parseParam(shape.target, params.target),
  };
  const [fromDay, toDay] = [[params.from].flat()[0], [params.to].flat()[0]];
  const range = dayRange(fromDay, toDay);
  if ((fromDay && !range.from) || (toDay && !range.to)) notFound();
  const values = withoutNull({
    ...filter,
    from: range.from && fromDay,
    to: range.to && toDay,
  });
  const cursor = parseParam(shape.cursor, params.cursor);
  const { items, nextCursor } = await read(listAuditEntries, {
    ...filter,
    ...range,
    cursor,
    limit: PAGE_SIZE,
  });
  return (
    <>
      <PageHeader title={t("title")} description={t("about")} />
      <AuditFilters values={values} actions={items.map(({ action }) => action)} />
      {items.length === 0 ? (
        <NoEntries isNarrowed={Object.keys(values).length > 0} />
      ) : (
        <AuditTable path={PATH} entries={items} />
      )}
      <Pager path={PATH} query={values} cursor={cursor} nextCursor={nextCursor} />
    </>
  );
});

type Values = Record<string, string>;

function withoutNull(values: Record<string, string | null | undefined>): Values {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value != null)) as Values;
}

async function AuditFilters({ values, actions }: { values: Values; actions: readonly string[] }) {
  const t = await getTranslations("adminAudit.filters");
  const text = {
    maxLength: 255,
    autoComplete: "off",
    spellCheck: false,
    className: "min-w-[min(13rem,100%)] grow",
  };
  return (
    <Filters path={PATH} values={values} submit={t("submit")} wait={t("wait")} className="mb-4">
      <Field
        label={t("action")}
        help={t("actionHelp")}
        name="action"
        defaultValue={values.action ?? ""}
        list="actions"
        {...text}
      />
      <datalist id="actions">
        {[...new Set(actions)].sort().map((action) => (
          <option key={action} value={action} />
        ))}
      </datalist>
      <Field label={t("actor")} name="actor" defaultValue={values.actor ?? ""} {...text} />
      <Field label={t("target")} name="target" defaultValue={values.target ?? ""} {...text} />
      <Field
        label={t("from")}
        name="from"
        type="date"
        {...DAY_LIMITS}
        defaultValue={values.from ?? ""}
        className="min-w-36 grow sm:grow-0"
      />
      <Field
        label={t("to")}
        name="to"
        type="date"
        {...DAY_LIMITS}
        defaultValue={values.to ?? ""}
        className="min-w-36 grow sm:grow-0"
      />
    </Filters>
  );
}

async function NoEntries({ isNarrowed }: { isNarrowed: boolean }) {
  const t = await getTranslations("adminAudit");
  if (!isNarrowed) return <EmptyState title={t("none.yet")} description={t("none.first")} />;
  return (
    <EmptyState
      title={t("none.found")}
      description={t("none.narrowed")}
      action={<LinkButton href={PATH}>{t("filters.all")}</LinkButton>}
    />
  );
}
