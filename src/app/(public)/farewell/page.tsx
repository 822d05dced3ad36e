import { redirect } from "next/navigation";
import { getTranslations } from "next-intl/server";
import { MessagePage } from "../../../ui/message-page.tsx";
import { hasDeletedAccount } from "../../gate/deleted-account.ts";
import { redirectIfSignedIn } from "../../gate/optional-user.ts";
import { titled } from "../../titled.ts";

export const generateMetadata = titled("auth.farewell.title");

/** Shown to somebody who has just deleted the account. */
export default async function FarewellPage() {
  await redirectIfSignedIn();
  if (!(await hasDeletedAccount())) redirect("/");
  const t = await getTranslations("auth.farewell");
  return <MessagePage title={t("title")} description={t("about")} action={{ label: t("way"), href: "/" }} />;
}
