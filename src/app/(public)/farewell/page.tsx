import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { getTranslations } from "next-intl/server";
import { MessagePage } from "../../../ui/message-page.tsx";
import { hasDeletedAccount } from "../../gate/deleted-account.ts";
import { redirectIfSignedIn } from "../../gate/optional-user.ts";

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations("auth.farewell");
  return { title: t("title") };
}

/** Shown to somebody who has just deleted the account. */
export default async function FarewellPage() {
  await redirectIfSignedIn();
  if (!(await hasDeletedAccount())) redirect("/");
  const t = await getTranslations("auth.farewell");
  return <MessagePage title={t("title")} description={t("about")} action={{ label: t("way"), href: "/" }} />;
}
