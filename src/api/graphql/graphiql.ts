import { createHash } from "node:crypto";
import type { MiddlewareHandler } from "hono";
import { accepts } from "hono/accepts";

/** GraphiQL served from its package: the page loads nothing external. */
export function graphiql(): MiddlewareHandler {
  let page: Promise<{ html: string; policy: string }> | null = null;
  return async (c, next) => {
    const accepted = accepts(c, { header: "Accept", supports: ["text/html"], default: "" });
    if (accepted === "") return next();
    page ??= renderGraphiql();
    const { html, policy } = await page;
    c.header("content-security-policy", policy);
    return c.html(html);
  };
}

/** 9 MB of JavaScript: loaded on first use. */
async function renderGraphiql(): Promise<{ html: string; policy: string }> {
  const { renderGraphiQL } = await import("@graphql-yoga/render-graphiql");
  const html = renderGraphiQL({ title: "Tollgate GraphQL", defaultQuery: DEFAULT_QUERY });
  const scripts = [...html.matchAll(/<script>(.*)<\/script>/gs)].map(([, script = ""]) => script);
  const hashes = scripts.map((script) => `'sha256-${createHash("sha256").update(script).digest("base64")}'`);
  return { html, policy: [`script-src ${hashes.join(" ")}`, ...POLICY].join("; ") };
}

// The editor uses inline styles, an embedded font and workers from blobs.
const POLICY = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src data:",
  "worker-src blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];

const DEFAULT_QUERY = `{
  plans {
    items { id name price { amount currency interval } features }
  }
}
`;
