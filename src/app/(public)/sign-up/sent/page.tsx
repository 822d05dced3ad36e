import { getTranslations } from "next-intl/server";
import { MessagePage } from "../../../../ui/message-page.tsx";
import { signInPath } from "../../../gate/same-site-path.ts";
import { titled } from "../../../titled.ts";

export const generateMetadata = titled("auth.sent.title");

type Query = Promise<{ next?: string | string[] }>;

/** After signing up, where addresses are confirmed. */
export default async function SentPage({ searchParams }: { searchParams: Query }) {
  const [t, { next }] = await Promise.all([getTranslations("auth.sent"), searchParams]);
  const href = signInPath([next].flat()[0] ?? null);
  return <MessagePage title={t("title")} description={t("about")} action={{ label: t("way"), href }} />;
}
