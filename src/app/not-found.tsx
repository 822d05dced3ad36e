import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { NotFoundMessage } from "./not-found-message.tsx";
import { PublicPage } from "./public-page.tsx";

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations("common.notFound");
  return { title: t("title") };
}

export default function NotFound() {
  return (
    <PublicPage>
      <NotFoundMessage />
    </PublicPage>
  );
}
