import { Hono } from "hono";
import type { VersionChoice } from "../domain/api-version.ts";
import { refuse } from "../domain/refusals/refusal.ts";
import { bearerCheck } from "../http/bearer-check.ts";
import type { HonoEnv } from "../http/hono-env.ts";

export type MetricsOptions = {
  /** `null`: metrics are disabled. */
  token: string | null;
  /** In Prometheus's text format; available when a token is set. */
  metrics: {
    read(): Promise<{ text: string; contentType: string }>;
    /** Called with each request to a REST route, and with every other that names a version. */
    requested(version: string, chosenBy: VersionChoice): void;
  } | null;
};

/** `GET /api/metrics`, for holders of the operator's token. */
export function metrics({ token, metrics }: MetricsOptions): Hono<HonoEnv> {
  const routes = new Hono<HonoEnv>();
  if (token === null || metrics === null) return routes;
  const isOperator = bearerCheck(token);
  routes.get("/", async (c) => {
    if (!isOperator(c.req.header("authorization"))) refuse({ reason: "unauthorized" });
    const { text, contentType } = await metrics.read();
    return c.body(text, 200, { "content-type": contentType });
  });
  return routes;
}
