import { getTranslations } from "next-intl/server";
import { MessagePage } from "../ui/message-page.tsx";

export async function AdminOnlyMessage() {
  const t = await getTranslations("common.forbidden");
  return (
    <MessagePage
      title={t("title")}
      description={t("about")}
      action={{ label: t("way"), href: "/dashboard" }}
    />
  );
}
