import { readdir } from "node:fs/promises";
import { join, posix, sep } from "node:path";
import { serveStatic } from "@hono/node-server/serve-static";
import { Hono } from "hono";

/** Scripts, styles and fonts, compressed at build time; their names change with their content. */
export function builtFiles(project: string): Hono {
  return new Hono().get(
    "/_next/static/*",
    (c, next) => {
      // Served as a whole: a shared cache could keep the 416 of an impossible range, for a year.
      c.req.raw.headers.delete("range");
      return next();
    },
    serveStatic({
      root: join(project, ".next"),
      rewriteRequestPath: (path) => path.replace("/_next/", "/"),
      precompressed: true,
      onFound: (_, c) => {
        c.header("cache-control", "public, max-age=31536000, immutable");
        // Also where it is not compressed: a shared cache would send it to everybody like that.
        c.header("vary", "Accept-Encoding");
        c.header("x-content-type-options", "nosniff");
      },
    }),
  );
}

/** The addresses of the stylesheets; none where the files are served by another program. */
export async function builtStylesheets(project: string): Promise<string[]> {
  const files = await readdir(join(project, ".next/static"), { recursive: true }).catch(() => []);
  return files
    .filter((file) => file.endsWith(".css"))
    .map((file) => posix.join("/_next/static", ...file.split(sep)));
}
