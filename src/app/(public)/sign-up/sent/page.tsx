import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { DeadEnd } from "../../../../ui/dead-end.tsx";

export async function generateMetadata(): Promise<Metadata> {
  const words = await getTranslations("auth.sent");
  return { title: words("title") };
}

/** After signing up, where addresses are confirmed. */
export default async function SentPage() {
  const words = await getTranslations("auth.sent");
  return (
    <DeadEnd words={{ title: words("title"), about: words("about"), way: words("way") }} href="/sign-in" />
  );
}
