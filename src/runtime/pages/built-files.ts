import { readdir, readFile } from "node:fs/promises";
import { join, posix, sep } from "node:path";
import { Hono } from "hono";
import { serveStatic } from "hono/serve-static";

/** Scripts, styles and fonts, compressed at build time; their names change with their content. */
export function builtFiles(project: string): Hono {
  const read = cachedFileReader();
  return new Hono().get(
    "/_next/static/*",
    serveStatic({
      root: join(project, ".next"),
      join,
      rewriteRequestPath: (path) => path.replace("/_next/", "/"),
      getContent: async (path, c) => {
        const content = await read(path).catch((error) => {
          // Of the file that is not compressed: the error's response has another length.
          c.header("content-length", undefined);
          throw error;
        });
        // Hono leaves it out for HEAD.
        if (content !== null) c.header("content-length", `${content.length}`);
        return content;
      },
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

type Content = Uint8Array<ArrayBuffer>;

/**
 * Reads each file once, and keeps it: they are 1.5 MB in all. Streamed, each response that somebody reads
 * slowly would hold a file open, and strangers could use up those that the system allows.
 */
function cachedFileReader(): (path: string) => Promise<Content | null> {
  const files = new Map<string, Content>();
  return async (path) => {
    const cached = files.get(path);
    if (cached) return cached;
    try {
      const content = await readFile(path);
      files.set(path, content);
      return content;
    } catch (error) {
      if (MISSING.has((error as NodeJS.ErrnoException).code ?? "")) return null;
      throw error;
    }
  };
}

/** Codes of errors from reading what is no file; the last: a name with a NUL. */
const MISSING: ReadonlySet<string> = new Set([
  ...["ENOENT", "ENOTDIR", "EISDIR", "ENAMETOOLONG"],
  "ERR_INVALID_ARG_VALUE",
]);

/** The addresses of the stylesheets; none where the files are served by another program. */
export async function builtStylesheets(project: string): Promise<string[]> {
  const files = await readdir(join(project, ".next/static"), { recursive: true }).catch(() => []);
  return files
    .filter((file) => file.endsWith(".css"))
    .map((file) => posix.join("/_next/static", ...file.split(sep)));
}
