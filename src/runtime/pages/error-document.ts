import type { IncomingMessage, ServerResponse } from "node:http";
import { html } from "hono/html";
import { sameSitePath } from "../../app/gate/same-site-path.ts";
import { negotiateLocale } from "../../domain/negotiate-locale.ts";
import { messagesIn } from "../../messages/messages.ts";
import { buttonClasses } from "../../ui/button-classes.ts";
import { builtStylesheets } from "./built-files.ts";

/** Why it is shown: the page failed, the form was rendered by an earlier build, or there were too many requests. */
export type ErrorDocumentCause = "failed" | "outdated" | "limited";

/** A document that is shown in a page's place: like src/app/server-error.tsx, but rendered without Next.js. */
export async function errorDocument(
  { url, headers }: Pick<IncomingMessage, "url" | "headers">,
  outgoing: Pick<ServerResponse, "getHeader">,
  {
    id,
    nonce,
    cause,
    retryAfterSeconds = 0,
    project,
  }: { id: string; nonce: string; cause: ErrorDocumentCause; retryAfterSeconds?: number; project: string },
): Promise<string> {
  const locale = negotiateLocale(headers["accept-language"]);
  const { product, description, failed, outdatedForm, limited } = (await messagesIn(locale)).common;
  // A browser keeps a posted form, and sends it again when the page is reloaded.
  const isForm = headers["content-type"]?.startsWith("multipart/form-data") ?? false;
  const { title, about, formAbout = about } = { failed, outdated: outdatedForm, limited }[cause] as Texts;
  const sentences = (isForm ? formAbout : about).replace("{seconds}", String(retryAfterSeconds));
  const path = new URL(sameSitePath(url, "/"), "http://localhost");
  const announced = stylesheetsIn(String(outgoing.getHeader("link") ?? ""));
  const stylesheets = announced.length > 0 ? announced : await builtStylesheets(project);
  const retry = isForm
    ? html`<a class="${buttonClasses("primary")}" href="${path.pathname}${path.search}">${failed.formWay}</a>`
    : html`<form action="${path.pathname}">${[...path.searchParams].map(
        ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
      )}<button class="${buttonClasses("primary")}">${failed.way}</button></form>`;
  const page = await html`<!DOCTYPE html>
<html lang="${locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${description}">
<title>${title} · ${product}</title>
${stylesheets.map((href) => html`<link rel="stylesheet" href="${href}" nonce="${nonce}">`)}
</head>
<body class="min-h-dvh antialiased">
<main id="content" class="px-4 py-8"><div class="mx-auto w-full max-w-md sm:pt-8">
<div class="rounded-box border border-line bg-surface p-6 shadow-box sm:p-8">
<h1 class="font-semibold text-lg">${title}</h1>
<p class="mt-1 text-muted">${sentences}</p>
<div class="mt-5">
${cause === "failed" ? html`<p class="mb-5 break-all rounded-box bg-raised px-3 py-2 font-mono text-sm">${id}</p>` : ""}
${retry}
</div></div></div></main>
</body>
</html>
`;
  return String(page);
}

type Texts = { title: string; about: string; formAbout?: string };

/** Next.js announces the styles of the page in the `Link` header, once it has begun to render one. */
function stylesheetsIn(links: string): string[] {
  return links
    .split(/,\s*(?=<)/)
    .filter((link) => /;\s*as="style"/.test(link))
    .flatMap((link) => /^<([^>]+)>/.exec(link)?.[1] ?? []);
}
