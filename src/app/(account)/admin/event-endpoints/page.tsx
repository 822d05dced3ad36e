import { getTranslations } from "next-intl/server";
import type { z } from "zod";
import { listEndpointDeliveries } from "../../../../operations/event-endpoints/list-endpoint-deliveries.ts";
import { listEventEndpoints } from "../../../../operations/event-endpoints/list-endpoints.ts";
import { ActionForm } from "../../../../ui/action-form.tsx";
import { Card } from "../../../../ui/card.tsx";
import { EmptyState } from "../../../../ui/empty-state.tsx";
import { Notice } from "../../../../ui/notice.tsx";
import { PageHeader } from "../../../../ui/page-header.tsx";
import { Pager } from "../../../../ui/pager.tsx";
import { SubmitButton } from "../../../../ui/submit-button.tsx";
import { Cell, MainCell, Row, Table } from "../../../../ui/table.tsx";
import { Time } from "../../../../ui/time.tsx";
import { formAction } from "../../../gate/form-action.ts";
import { read, requireAdmin } from "../../../gate/read.ts";
import { withRefusalPage } from "../../../gate/with-refusal-page.tsx";
import { titled } from "../../../titled.ts";
import { parseParam, type SearchParams } from "../parse-param.ts";
import { createEventEndpoint } from "./actions.ts";
import { EndpointFields } from "./endpoint-fields.tsx";
import { EndpointStatus, OutboundStatus } from "./endpoint-status.tsx";
import { NewSecret } from "./new-secret.tsx";

const PATH = "/admin/event-endpoints";

export const generateMetadata = titled("adminEventEndpoints.title");

export default withRefusalPage(async function EventEndpointsPage({
  searchParams,
}: {
  searchParams: SearchParams;
}) {
  await requireAdmin();
  const [t, params] = await Promise.all([getTranslations("adminEventEndpoints"), searchParams]);
  const cursor = parseParam(listEventEndpoints.input.shape.cursor, params.cursor);
  const { items, nextCursor } = await read(listEventEndpoints, { cursor });
  return (
    <>
      <PageHeader title={t("title")} description={t("about")} />
      {params.done === "deleted" && <Notice>{t("delete.done")}</Notice>}
      <div className="flex flex-col gap-6">
        <section>
          <h2 className="sr-only">{t("list")}</h2>
          {items.length === 0 ? (
            <EmptyState title={t("none.title")} description={t("none.about")} />
          ) : (
            <EndpointTable endpoints={items} />
          )}
          <Pager path={PATH} cursor={cursor} nextCursor={nextCursor} />
        </section>
        <CreateCard />
      </div>
    </>
  );
});

type Endpoint = z.output<typeof listEventEndpoints.output>["items"][number];

async function EndpointTable({ endpoints }: { endpoints: readonly Endpoint[] }) {
  const t = await getTranslations("adminEventEndpoints");
  return (
    <Table
      label={t("list")}
      columns={[
        { label: t("columns.endpoint") },
        { label: t("columns.status") },
        { label: t("columns.lastResult"), align: "end", from: "sm" },
      ]}
    >
      {endpoints.map((endpoint) => (
        <Row key={endpoint.id}>
          <MainCell
            href={`${PATH}/${endpoint.id}`}
            description={endpoint.description ?? endpoint.types.join(", ")}
          >
            {endpoint.url}
          </MainCell>
          <Cell>
            <EndpointStatus endpoint={endpoint} />
          </Cell>
          <Cell from="sm" align="end">
            <LastResult endpointId={endpoint.id} />
          </Cell>
        </Row>
      ))}
    </Table>
  );
}

async function LastResult({ endpointId }: { endpointId: string }) {
  const [t, { items }] = await Promise.all([
    getTranslations("adminEventEndpoints"),
    read(listEndpointDeliveries, { id: endpointId, limit: 1 }),
  ]);
  const [last] = items;
  if (last === undefined) return <span className="text-muted">{t("noResult")}</span>;
  return (
    <span className="flex flex-col items-end">
      <OutboundStatus status={last.status} />
      <span className="relative text-muted text-sm">
        <Time at={last.attempts.at(-1)?.at ?? last.createdAt} />
      </span>
    </span>
  );
}

async function CreateCard() {
  const t = await getTranslations("adminEventEndpoints");
  return (
    <Card title={t("create.title")} description={t("create.about")}>
      <ActionForm action={formAction(createEventEndpoint)} className="flex flex-col gap-4">
        <EndpointFields />
        <div>
          <SubmitButton>{t("create.submit")}</SubmitButton>
        </div>
        <NewSecret />
      </ActionForm>
    </Card>
  );
}
