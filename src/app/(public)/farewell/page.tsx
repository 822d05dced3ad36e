import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { MessagePage } from "../../../ui/message-page.tsx";

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations("auth.farewell");
  return { title: t("title") };
}

/** After deleting one's account. */
export default async function FarewellPage() {
  const t = await getTranslations("auth.farewell");
  return <MessagePage title={t("title")} description={t("about")} action={{ label: t("way"), href: "/" }} />;
}
