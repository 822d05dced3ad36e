import { html } from "hono/html";
import { STYLE } from "./style.ts";

export type Html = ReturnType<typeof html>;

/** A whole page, with the notice that this is a simulator. */
export function page(title: string, content: Html | Promise<Html>, options: { wide?: boolean } = {}): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<link rel="icon" href="data:,">
<title>${title}</title>
${STYLE}
</head>
<body>
<p class="banner" role="note" style="margin:0"><strong>Simulated provider: no money moves.</strong></p>
<main class="${options.wide ? "wide" : ""}">${content}</main>
</body>
</html>`;
}

/** A page with one sentence and one link. */
export function messagePage(
  title: string,
  sentence: string,
  link: { href: string; label: string } | null,
): Html {
  return page(
    title,
    html`<div class="card"><h1>${title}</h1><p class="soft">${sentence}</p>
${link ? html`<a class="button" href="${link.href}">${link.label}</a>` : ""}</div>`,
  );
}
