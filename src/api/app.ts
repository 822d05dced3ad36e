import { randomUUID } from "node:crypto";
import { Hono } from "hono";
import type { Log } from "../log.ts";
import type { ApiEnvironment } from "./environment.ts";
import { type WebhookDoor, webhooks } from "./webhooks.ts";

export type ApiOptions = WebhookDoor & { isReady(): Promise<boolean>; log: Log };

/** The whole of `/api`. Everything else is not ours to answer. */
export function createApi(options: ApiOptions): Hono<ApiEnvironment> {
  const api = new Hono<ApiEnvironment>();

  api.use(async (c, next) => {
    const requestId = randomUUID();
    c.set("requestId", requestId);
    // Before the answer is made: a header added afterwards costs the adapter its quick way out.
    c.header("x-request-id", requestId);
    await next();
  });
  api.route("/api/webhooks", webhooks(options));
  api.get("/api/health", (c) => c.json({ status: "ok" }));
  api.get("/api/ready", async (c) =>
    (await options.isReady()) ? c.json({ status: "ready" }) : c.json({ error: "Service unavailable" }, 503),
  );
  api.notFound((c) => c.json({ error: "Not found" }, 404));
  api.onError((error, c) => {
    options.log.error({ err: error, requestId: c.get("requestId"), path: c.req.path }, "request failed");
    return c.json({ error: "Internal server error" }, 500);
  });
  return api;
}
