import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { MessagePage } from "../../../../ui/message-page.tsx";

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations("auth.sent");
  return { title: t("title") };
}

/** After signing up, where addresses are confirmed. */
export default async function SentPage() {
  const t = await getTranslations("auth.sent");
  return (
    <MessagePage title={t("title")} description={t("about")} action={{ label: t("way"), href: "/sign-in" }} />
  );
}
