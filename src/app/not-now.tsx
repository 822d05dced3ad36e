import { getTranslations } from "next-intl/server";
import { OutsideLinkButton } from "../ui/button.tsx";
import { NarrowPage } from "../ui/narrow-page.tsx";
import { currentRequest } from "./gate/request.ts";
import { sameSitePath } from "./gate/same-site-path.ts";

/** What error pages say, drawn by the server: those of Next.js are drawn in the browser, by JavaScript alone. */
export async function NotNow() {
  const words = await getTranslations("common.failed");
  const { id, path } = currentRequest();
  return (
    <main id="content" className="px-4 py-8">
      <NarrowPage title={words("title")} about={words("about")}>
        <p className="mb-5 break-all rounded-box bg-raised px-3 py-2 font-mono text-sm">{id}</p>
        <OutsideLinkButton href={sameSitePath(path, "/")} look="main">
          {words("way")}
        </OutsideLinkButton>
      </NarrowPage>
    </main>
  );
}
