import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { MessagePage } from "../../../ui/message-page.tsx";
import { redirectIfSignedIn } from "../../gate/optional-user.ts";

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations("auth.farewell");
  return { title: t("title") };
}

/** Shown once the account has been deleted. */
export default async function FarewellPage() {
  await redirectIfSignedIn();
  const t = await getTranslations("auth.farewell");
  return <MessagePage title={t("title")} description={t("about")} action={{ label: t("way"), href: "/" }} />;
}
