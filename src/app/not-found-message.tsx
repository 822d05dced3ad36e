import { getTranslations } from "next-intl/server";
import { MessagePage } from "../ui/message-page.tsx";
import { TabTitle } from "../ui/tab-title.tsx";

export async function NotFoundMessage() {
  const t = await getTranslations("common.notFound");
  return (
    <>
      <TabTitle title={t("title")} />
      <MessagePage title={t("title")} description={t("about")} action={{ label: t("way"), href: "/" }} />
    </>
  );
}
