import "../ui/tokens.css";
import type { Metadata, Viewport } from "next";
import localFont from "next/font/local";
import { getLocale, getTranslations } from "next-intl/server";
import type { ReactNode } from "react";
import { UiLabelsProvider } from "../ui/ui-labels.tsx";
import { profile } from "./gate/read.ts";
import { currentRequest } from "./gate/request.ts";

/** Every response carries its own nonce, and most depend on the user. */
export const dynamic = "force-dynamic";

const inter = localFont({
  src: "../../node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2",
  variable: "--font-inter",
  weight: "100 900",
  // A late font waits for the next page: swapping it in would shift the layout.
  display: "optional",
});

export const viewport: Viewport = {
  width: "device-width",
  initialScale: 1,
  colorScheme: "light dark",
};

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations("common");
  const { appUrl } = await currentRequest();
  return {
    title: { default: t("product"), template: `%s · ${t("product")}` },
    description: t("description"),
    metadataBase: new URL(appUrl),
  };
}

export default async function RootLayout({ children }: { children: ReactNode }) {
  const [t, refusals] = await Promise.all([getTranslations("common"), getTranslations("refusals.reasons")]);
  return (
    <html lang={await getLocale()} className={inter.variable} data-theme={await theme()}>
      <body className="min-h-dvh antialiased">
        <a
          href="#content"
          className="absolute top-2 left-2 z-50 -translate-y-16 rounded-box bg-accent px-3 py-2 text-on-accent focus:translate-y-0"
        >
          {t("skipToContent")}
        </a>
        <UiLabelsProvider
          labels={{
            product: t("product"),
            loadError: { title: t("failed.title"), description: t("failed.about"), retry: t("failed.way") },
            unreachable: t("unreachable"),
            rate_limited: refusals("rate_limited"),
            outdated: t("outdated"),
            retryIn: t.raw("wait"),
          }}
        >
          {children}
        </UiLabelsProvider>
      </body>
    </html>
  );
}

/** The user's choice, or the system's. */
async function theme(): Promise<string> {
  const { person } = await currentRequest();
  const caller = await person().catch(() => null);
  const user = caller === null ? null : await profile().catch(() => null);
  return user?.preferences.theme ?? "system";
}
