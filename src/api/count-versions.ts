import type { MiddlewareHandler } from "hono";
import type { HonoEnv } from "../http/hono-env.ts";
import type { MetricsOptions } from "./metrics.ts";

/**
 * Counts requests by version for whoever removes one. Requests that name it fail then, whatever route they are
 * for; those that name none get another one, which only REST routes tell apart.
 */
export function countVersions({
  requested,
}: Pick<NonNullable<MetricsOptions["metrics"]>, "requested">): MiddlewareHandler<HonoEnv> {
  return async (c, next) => {
    await next();
    const chosenBy = c.get("versionChosenBy");
    // What is no route fails already: scanners ask for anything.
    const isCounted = c.get("isRest") ?? (chosenBy !== "default" && c.res.status !== 404);
    if (isCounted) requested(c.get("apiVersion"), chosenBy);
  };
}
