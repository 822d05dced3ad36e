import { Hono } from "hono";
import type { JobOutcome } from "../domain/job.ts";
import { notFound, refuse } from "../domain/refusals/refusal.ts";
import { bearerCheck } from "../http/bearer-check.ts";
import type { HonoEnv } from "../http/hono-env.ts";

export type CronOptions = {
  /** `null`: there are no cron routes. */
  secret: string | null;
  /** Runs a job now, or waits for the run under way here. Undefined: no job has this name. */
  runJob(name: string): Promise<JobOutcome> | undefined;
};

/**
 * `GET /api/cron/<job>` runs a periodic job once, for hosts that keep no process running between requests.
 */
export function cron({ secret, runJob }: CronOptions): Hono<HonoEnv> {
  const routes = new Hono<HonoEnv>();
  if (secret === null) return routes;
  const isOperator = bearerCheck(secret);
  routes.get("/:job", async (c) => {
    c.header("cache-control", "no-store");
    if (!isOperator(c.req.header("authorization"))) refuse({ reason: "unauthorized" });
    const job = c.req.param("job");
    const outcome = await (runJob(job) ?? notFound("job"));
    if (outcome === "failed") refuse({ reason: "unavailable" });
    return c.json({ job, outcome });
  });
  return routes;
}
