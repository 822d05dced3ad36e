import { readFile } from "node:fs/promises";
import { Hono } from "hono";
import { type Asset, answerAsset, createAsset } from "../../http/asset.ts";
import type { HonoEnv } from "../../http/hono-env.ts";

/** Swagger UI served from its package; the page loads nothing external. */
export function reader(): Hono<HonoEnv> {
  const routes = new Hono<HonoEnv>();
  routes.get("/", (c) => {
    c.header("content-security-policy", CONTENT_SECURITY_POLICY);
    c.header("cache-control", "public, max-age=300");
    return c.html(PAGE);
  });
  routes.get("/start.js", (c) => {
    c.header("cache-control", "public, max-age=300");
    return c.body(START, 200, { "content-type": "text/javascript; charset=utf-8" });
  });
  for (const { url, type } of FILES) {
    let asset: Promise<Asset> | null = null;
    routes.get(url.slice(url.lastIndexOf("/")), async (c) => {
      asset ??= readFile(new URL(url)).then((content) => createAsset(type, content));
      return answerAsset(c, await asset, { maxAgeSeconds: DAY_SECONDS });
    });
  }
  return routes;
}

const DAY_SECONDS = 24 * 60 * 60;

const FILES = [
  { url: import.meta.resolve("swagger-ui-dist/swagger-ui.css"), type: "text/css; charset=utf-8" },
  {
    url: import.meta.resolve("swagger-ui-dist/swagger-ui-bundle.js"),
    type: "text/javascript; charset=utf-8",
  },
  { url: import.meta.resolve("swagger-ui-dist/favicon-32x32.png"), type: "image/png" },
] as const;

// Swagger UI sets inline styles; scripts come from files alone.
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

// Relative, so that it also works under a version prefix.
const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Tollgate API</title>
    <link rel="icon" type="image/png" href="docs/favicon-32x32.png">
    <link rel="stylesheet" href="docs/swagger-ui.css">
  </head>
  <body>
    <div id="reader"></div>
    <noscript><p>The document itself: <a href="openapi.json">openapi.json</a></p></noscript>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`;

const START = `SwaggerUIBundle({ url: "openapi.json", dom_id: "#reader", deepLinking: true, validatorUrl: null });
`;
