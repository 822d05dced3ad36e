import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { listApiKeys } from "../../../operations/api-keys/list-api-keys.ts";
import { Card } from "../../../ui/card.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { PageHeader } from "../../../ui/page-header.tsx";
import { Pager } from "../../../ui/pager.tsx";
import { read } from "../../gate/read.ts";
import { CreateForm } from "./create-form.tsx";
import { revokeKey } from "./forms.ts";
import { KeyRow } from "./key-row.tsx";
import { Revocations } from "./revocations.tsx";

export async function generateMetadata(): Promise<Metadata> {
  const words = await getTranslations("apiKeys");
  return { title: words("title") };
}

export default async function ApiKeysPage({ searchParams }: PageProps<"/api-keys">) {
  const query = await searchParams;
  const cursor = typeof query.cursor === "string" ? query.cursor : null;
  const [words, common, page] = await Promise.all([
    getTranslations("apiKeys"),
    getTranslations("common"),
    read(listApiKeys, { cursor }),
  ]);
  return (
    <>
      <PageHeader title={words("title")} about={words("about")} />
      <div className="flex flex-col gap-4">
        <CreateForm />
        <Card title={words("list")}>
          <Revocations action={revokeKey} done={words("revoke.done")} waitWords={common.raw("wait")}>
            {page.items.length === 0 ? (
              <Empty title={words("empty")} about={words("emptyAbout")} />
            ) : (
              <ul className="-mt-2 -mb-4">
                {page.items.map((apiKey) => (
                  <KeyRow key={apiKey.id} apiKey={apiKey} />
                ))}
              </ul>
            )}
          </Revocations>
          <Pager path="/api-keys" cursor={cursor} nextCursor={page.nextCursor} />
        </Card>
      </div>
    </>
  );
}
