import { getTranslations } from "next-intl/server";
import { ExternalLinkButton } from "../ui/button.tsx";
import { NarrowPage } from "../ui/narrow-page.tsx";
import { currentRequest } from "./gate/request.ts";
import { sameSitePath } from "./gate/same-site-path.ts";

/** Error page content rendered on the server: Next.js's own is rendered in the browser with JavaScript. */
export async function ServerError() {
  const t = await getTranslations("common.failed");
  const { id, path, header } = await currentRequest();
  // A browser keeps a posted form, and sends it again when the page is reloaded.
  const isForm = header("content-type")?.startsWith("multipart/form-data") ?? false;
  return (
    <main id="content" className="px-4 py-8">
      <NarrowPage title={t("title")} description={t(isForm ? "formAbout" : "about")}>
        <p className="mb-5 break-all rounded-box bg-raised px-3 py-2 font-mono text-sm">{id}</p>
        <ExternalLinkButton href={sameSitePath(path, "/")} variant="primary">
          {t(isForm ? "formWay" : "way")}
        </ExternalLinkButton>
      </NarrowPage>
    </main>
  );
}
