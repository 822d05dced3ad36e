import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { MessagePage } from "../../../ui/message-page.tsx";
import { signInPath } from "../../gate/same-site-path.ts";

type Query = Promise<{ error?: string | string[]; next?: string | string[] }>;

export async function generateMetadata({ searchParams }: { searchParams: Query }): Promise<Metadata> {
  const [t, { error }] = await Promise.all([getTranslations("auth"), searchParams]);
  return { title: t(error === undefined ? "verify.title" : "reset.badLinkTitle") };
}

/** Where the link that confirms an email address leads. */
export default async function VerifyEmailPage({ searchParams }: { searchParams: Query }) {
  const [t, { error, next }] = await Promise.all([getTranslations("auth"), searchParams]);
  const isInvalid = error !== undefined;
  return (
    <MessagePage
      title={isInvalid ? t("reset.badLinkTitle") : t("verify.title")}
      description={isInvalid ? t("verify.badLink") : t("verify.about")}
      action={{ label: t("signIn.submit"), href: signInPath([next].flat()[0] ?? null) }}
    />
  );
}
