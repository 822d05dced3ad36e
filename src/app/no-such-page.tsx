import { getTranslations } from "next-intl/server";
import { DeadEnd } from "../ui/dead-end.tsx";

export async function NoSuchPage() {
  const words = await getTranslations("common.notFound");
  return <DeadEnd words={{ title: words("title"), about: words("about"), way: words("way") }} href="/" />;
}
