import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { DeadEnd } from "../../../ui/dead-end.tsx";

export async function generateMetadata(): Promise<Metadata> {
  const words = await getTranslations("auth.farewell");
  return { title: words("title") };
}

/** After deleting one's account. */
export default async function FarewellPage() {
  const words = await getTranslations("auth.farewell");
  return <DeadEnd words={{ title: words("title"), about: words("about"), way: words("way") }} href="/" />;
}
