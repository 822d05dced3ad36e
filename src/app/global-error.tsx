"use client";

import "../ui/tokens.css";
import type { Locale } from "../domain/locale.ts";
import common from "../messages/en/common.json";
import type { LoadErrorProps } from "../ui/load-error.tsx";

/** When even the layout fails the reader's language is unknown: shown in every language. */
const TEXTS: Record<Locale, { failed: string; retry: string }> = {
  en: { failed: "This page couldn’t be loaded.", retry: "Try again" },
  de: { failed: "Diese Seite konnte nicht geladen werden.", retry: "Erneut versuchen" },
  es: { failed: "No se ha podido cargar esta página.", retry: "Intentar de nuevo" },
  zh: { failed: "无法加载此页面。", retry: "重试" },
};

export default function GlobalError({ error }: LoadErrorProps) {
  const number = error instanceof Error && "digest" in error ? String(error.digest) : null;
  return (
    <html lang="en">
      <head>
        <title>{common.product}</title>
      </head>
      <body className="min-h-dvh antialiased">
        <main id="content" className="mx-auto flex max-w-md flex-col gap-3 px-4 py-12">
          <h1 className="font-semibold text-lg">{common.product}</h1>
          {Object.entries(TEXTS).map(([locale, { failed, retry }]) => (
            <p key={locale} lang={locale}>
              {failed}{" "}
              <button
                type="button"
                className="py-1 text-accent underline underline-offset-2"
                onClick={reload}
              >
                {retry}
              </button>
            </p>
          ))}
          {number && <p className="break-all font-mono text-muted text-sm">{number}</p>}
        </main>
      </body>
    </html>
  );
}

/** Not by the router, which may have failed. */
function reload(): void {
  location.reload();
}
