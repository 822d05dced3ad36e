import "../ui/tokens.css";
import type { Metadata, Viewport } from "next";
import localFont from "next/font/local";
import { getLocale, getTranslations } from "next-intl/server";
import type { ReactNode } from "react";
import { FailureWordsFor } from "../ui/failure-words.tsx";
import { profile } from "./gate/read.ts";
import { currentRequest } from "./gate/request.ts";

/** A nonce is made for each answer, and everything is about who asks. */
export const dynamic = "force-dynamic";

const inter = localFont({
  src: "../../node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2",
  variable: "--font-inter",
  weight: "100 900",
  display: "swap",
});

export const viewport: Viewport = {
  width: "device-width",
  initialScale: 1,
  colorScheme: "light dark",
};

export async function generateMetadata(): Promise<Metadata> {
  const words = await getTranslations("common");
  return {
    title: { default: words("product"), template: `%s · ${words("product")}` },
    description: words("description"),
    metadataBase: new URL(currentRequest().appUrl),
  };
}

export default async function RootLayout({ children }: { children: ReactNode }) {
  const words = await getTranslations("common");
  return (
    <html lang={await getLocale()} className={inter.variable} data-theme={await theme()}>
      <body className="min-h-dvh antialiased">
        <a
          href="#content"
          className="absolute top-2 left-2 z-50 -translate-y-16 rounded-box bg-accent px-3 py-2 text-on-accent focus:translate-y-0"
        >
          {words("skipToContent")}
        </a>
        <FailureWordsFor
          words={{
            title: words("failed.title"),
            about: words("failed.about"),
            way: words("failed.way"),
          }}
        >
          {children}
        </FailureWordsFor>
      </body>
    </html>
  );
}

/** The reader's own choice; the system's without one. */
async function theme(): Promise<string> {
  const someone = await currentRequest()
    .person()
    .catch(() => null);
  const user = someone === null ? null : await profile().catch(() => null);
  return user?.preferences.theme ?? "system";
}
