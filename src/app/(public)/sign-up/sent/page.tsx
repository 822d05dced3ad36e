import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { MessagePage } from "../../../../ui/message-page.tsx";
import { signInPath } from "../../../gate/same-site-path.ts";

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations("auth.sent");
  return { title: t("title") };
}

type Query = Promise<{ next?: string | string[] }>;

/** After signing up, where addresses are confirmed. */
export default async function SentPage({ searchParams }: { searchParams: Query }) {
  const [t, { next }] = await Promise.all([getTranslations("auth.sent"), searchParams]);
  const href = signInPath([next].flat()[0] ?? null);
  return <MessagePage title={t("title")} description={t("about")} action={{ label: t("way"), href }} />;
}
