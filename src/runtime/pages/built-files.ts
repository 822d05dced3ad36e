import { join } from "node:path";
import { serveStatic } from "@hono/node-server/serve-static";
import { Hono } from "hono";

/** Scripts, styles and fonts, compressed at build time; their names change with their content. */
export function builtFiles(project: string): Hono {
  return new Hono().get(
    "/_next/static/*",
    serveStatic({
      root: join(project, ".next"),
      rewriteRequestPath: (path) => path.replace("/_next/", "/"),
      precompressed: true,
      onFound: (_, c) => {
        c.header("cache-control", "public, max-age=31536000, immutable");
        c.header("x-content-type-options", "nosniff");
      },
    }),
  );
}
