import { readFile } from "node:fs/promises";
import { join } from "node:path";

type PageRoute = { template: string; pattern: RegExp };

/** Finds the template of a page's path, e.g. `/admin/users/[id]`; `null`: there is no such page. */
export function pageRoutes(project: string): (url: string) => Promise<string | null> {
  let reading: Promise<PageRoute[]> | null = null;
  return async (url) => {
    const path = url.split("?", 1)[0] as string;
    if (path.startsWith("/_next/static/")) return "/_next/static/*";
    reading ??= readRoutes(project);
    return (await reading).find(({ pattern }) => pattern.test(path))?.template ?? null;
  };
}

async function readRoutes(project: string): Promise<PageRoute[]> {
  const text = await readFile(join(project, ".next/app-path-routes-manifest.json"), "utf8").catch(() => "{}");
  return Object.values(JSON.parse(text) as Record<string, string>).map((template) => ({
    template,
    pattern: new RegExp(`^${template.replace(/\[\w+\]/g, "[^/]+")}/?$`),
  }));
}
