import { getTranslations } from "next-intl/server";
import { listServiceKeys } from "../../../../operations/service-keys/list-service-keys.ts";
import { Card } from "../../../../ui/card.tsx";
import { EmptyState } from "../../../../ui/empty-state.tsx";
import { PageHeader } from "../../../../ui/page-header.tsx";
import { Pager } from "../../../../ui/pager.tsx";
import { RevokeForms } from "../../../../ui/revoke-forms.tsx";
import { formAction } from "../../../gate/form-action.ts";
import { read, requireAdmin } from "../../../gate/read.ts";
import { withRefusalPage } from "../../../gate/with-refusal-page.tsx";
import { titled } from "../../../titled.ts";
import { parseParam, type SearchParams } from "../parse-param.ts";
import { revokeServiceKey } from "./actions.ts";
import { CreateForm } from "./create-form.tsx";
import { ServiceKeyRow } from "./service-key-row.tsx";

export const generateMetadata = titled("adminServiceKeys.title");

export default withRefusalPage(async function ServiceKeysPage({
  searchParams,
}: {
  searchParams: SearchParams;
}) {
  await requireAdmin();
  const [t, keys, query] = await Promise.all([
    getTranslations("adminServiceKeys"),
    getTranslations("apiKeys"),
    searchParams,
  ]);
  const cursor = parseParam(listServiceKeys.input.shape.cursor, query.cursor);
  const { items, nextCursor } = await read(listServiceKeys, { cursor });
  return (
    <>
      <PageHeader title={t("title")} description={t("about")} />
      <div className="flex flex-col gap-4">
        <CreateForm />
        <Card title={t("list")}>
          <RevokeForms action={formAction(revokeServiceKey)} successText={keys("revoke.done")}>
            {items.length === 0 ? (
              <EmptyState title={keys("empty")} description={keys("emptyAbout")} />
            ) : (
              <ul className="-mt-2 -mb-4">
                {items.map((serviceKey) => (
                  <ServiceKeyRow key={serviceKey.id} serviceKey={serviceKey} />
                ))}
              </ul>
            )}
          </RevokeForms>
          <Pager path="/admin/service-keys" cursor={cursor} nextCursor={nextCursor} />
        </Card>
      </div>
    </>
  );
});
