import { getTranslations } from "next-intl/server";
import { listApiKeys } from "../../../operations/api-keys/list-api-keys.ts";
import { Card } from "../../../ui/card.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { PageHeader } from "../../../ui/page-header.tsx";
import { Pager } from "../../../ui/pager.tsx";
import { RevokeForms } from "../../../ui/revoke-forms.tsx";
import { formAction } from "../../gate/form-action.ts";
import { read } from "../../gate/read.ts";
import { textParam } from "../../gate/text-param.ts";
import { withRefusalPage } from "../../gate/with-refusal-page.tsx";
import { titled } from "../../titled.ts";
import { deleteApiKeyAction } from "./actions.ts";
import { CreateForm } from "./create-form.tsx";
import { KeyRow } from "./key-row.tsx";

export const generateMetadata = titled("apiKeys.title");

export default withRefusalPage(async function ApiKeysPage({ searchParams }: PageProps<"/api-keys">) {
  const query = await searchParams;
  const cursor = textParam(query.cursor);
  const [t, page] = await Promise.all([getTranslations("apiKeys"), read(listApiKeys, { cursor })]);
  return (
    <>
      <PageHeader title={t("title")} description={t("about")} />
      <div className="flex flex-col gap-4">
        <CreateForm />
        <Card title={t("list")}>
          <RevokeForms action={formAction(deleteApiKeyAction)} successText={t("revoke.done")}>
            {page.items.length === 0 ? (
              <EmptyState title={t("empty")} description={t("emptyAbout")} />
            ) : (
              <ul className="-mt-2 -mb-4">
                {page.items.map((apiKey) => (
                  <KeyRow key={apiKey.id} apiKey={apiKey} />
                ))}
              </ul>
            )}
          </RevokeForms>
          <Pager path="/api-keys" cursor={cursor} nextCursor={page.nextCursor} />
        </Card>
      </div>
    </>
  );
});
