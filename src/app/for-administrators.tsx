import { getTranslations } from "next-intl/server";
import { DeadEnd } from "../ui/dead-end.tsx";

export async function ForAdministrators() {
  const words = await getTranslations("common.forbidden");
  return (
    <DeadEnd words={{ title: words("title"), about: words("about"), way: words("way") }} href="/dashboard" />
  );
}
