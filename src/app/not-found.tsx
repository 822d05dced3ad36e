import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { NoSuchPage } from "./no-such-page.tsx";
import { PublicPage } from "./public-page.tsx";

export async function generateMetadata(): Promise<Metadata> {
  const words = await getTranslations("common.notFound");
  return { title: words("title") };
}

export default function NotFound() {
  return (
    <PublicPage>
      <NoSuchPage />
    </PublicPage>
  );
}
