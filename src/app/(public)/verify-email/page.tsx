import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { MessagePage } from "../../../ui/message-page.tsx";
import { signInPath } from "../../gate/same-site-path.ts";

type Query = { done?: string | string[]; error?: string | string[]; next?: string | string[] };
type SearchParams = Promise<Query>;

export async function generateMetadata({ searchParams }: { searchParams: SearchParams }): Promise<Metadata> {
  const [t, query] = await Promise.all([getTranslations("auth"), searchParams]);
  return { title: t(isConfirmed(query) ? "verify.title" : "reset.badLinkTitle") };
}

/** Where the link that confirms an email address leads. */
export default async function VerifyEmailPage({ searchParams }: { searchParams: SearchParams }) {
  const [t, query] = await Promise.all([getTranslations("auth"), searchParams]);
  return (
    <MessagePage
      title={isConfirmed(query) ? t("verify.title") : t("reset.badLinkTitle")}
      description={isConfirmed(query) ? t("verify.about") : t("verify.badLink")}
      action={{ label: t("signIn.submit"), href: signInPath([query.next].flat()[0] ?? null) }}
    />
  );
}

/** The link names `done`; a link that isn't valid adds `error`. */
function isConfirmed({ done, error }: Query): boolean {
  return done !== undefined && error === undefined;
}
