"use client";

import "../ui/tokens.css";
import type { LoadErrorProps } from "../ui/load-error.tsx";

/** When even the layout fails the reader's language is unknown: shown in every language. */
const SENTENCES = {
  en: "This page could not be loaded. Try again in a minute.",
  de: "Diese Seite konnte nicht geladen werden. Versuchen Sie es in einer Minute noch einmal.",
  es: "No se pudo cargar esta página. Inténtalo de nuevo en un minuto.",
  zh: "无法加载此页面，请一分钟后重试。",
};

export default function GlobalError({ error }: LoadErrorProps) {
  const number = error instanceof Error && "digest" in error ? String(error.digest) : null;
  return (
    <html lang="en">
      <head>
        <title>Tollgate</title>
      </head>
      <body className="min-h-dvh antialiased">
        <main id="content" className="mx-auto flex max-w-md flex-col gap-3 px-4 py-12">
          <h1 className="font-semibold text-lg">Tollgate</h1>
          {Object.entries(SENTENCES).map(([locale, sentence]) => (
            <p key={locale} lang={locale}>
              {sentence}
            </p>
          ))}
          {number && <p className="break-all font-mono text-muted text-sm">{number}</p>}
          <p>
            {/* Without text in any language, and without the router, which may have failed. */}
            <a href="/" className="inline-block py-1 text-accent underline underline-offset-2">
              Tollgate ↗
            </a>
          </p>
        </main>
      </body>
    </html>
  );
}
