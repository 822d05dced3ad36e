import type { Context } from "hono";
import { matchedRoutes } from "hono/route";
import type { DocumentedAuthRoute } from "../domain/callers/documented-route.ts";

/** Returns the template of a request's route, e.g. `/api/users/:id`, for names of spans; `null`: no route. */
export function routeTemplates(
  authRoutes: readonly DocumentedAuthRoute[],
): (c: Context, path: string) => string | null {
  const below = authRoutes.map(({ path }) => ({
    template: `/api/auth${path.replace(/\{(\w+)\}/g, ":$1")}`,
    pattern: new RegExp(`^/api/auth${path.replace(/\{\w+\}/g, "[^/]+")}$`),
  }));
  return (c, path) => {
    const template = matchedRoutes(c).at(-1)?.path ?? "/*";
    if (template === "/api/auth/*") {
      return below.find(({ pattern }) => pattern.test(path))?.template ?? template;
    }
    return NOT_A_ROUTE.has(template) ? null : template;
  };
}

/** Middleware for everything. */
const NOT_A_ROUTE = new Set(["*", "/*", "/api/*"]);
