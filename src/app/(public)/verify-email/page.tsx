import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { MessagePage } from "../../../ui/message-page.tsx";

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations("auth.verify");
  return { title: t("title") };
}

type Query = Promise<{ error?: string | string[] }>;

/** Where the link that confirms an address leads. */
export default async function VerifyEmailPage({ searchParams }: { searchParams: Query }) {
  const [t, { error }] = await Promise.all([getTranslations("auth"), searchParams]);
  const isBad = error !== undefined;
  return (
    <MessagePage
      title={isBad ? t("reset.badLinkTitle") : t("verify.title")}
      description={isBad ? t("verify.badLink") : t("verify.about")}
      action={{ label: t("signIn.submit"), href: "/sign-in" }}
    />
  );
}
