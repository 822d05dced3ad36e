import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { auth } from "./subscriptions/auth.js";
import { limiter } from "./subscriptions/limiter.js";
import { listSubscriptions, Query } from "./subscriptions/list-subscriptions.js";

const app = new Hono();

app.get("/api/ready", (c) => c.json({ status: "ready" }));
app.on(["GET", "POST"], "/api/auth/*", (c) => auth.handler(c.req.raw));

app.get("/api/subscriptions", async (c) => {
  const session = await auth.api.getSession({ headers: c.req.raw.headers });
  if (!session) return c.json({ error: "Unauthorized" }, 401);

  let usage;
  try {
    usage = await limiter.consume(session.user.id);
  } catch (refused) {
    if (refused instanceof Error) throw refused;
    c.header("Retry-After", String(Math.ceil(refused.msBeforeNext / 1000)));
    return c.json({ error: "Too many requests. Please wait a moment." }, 429);
  }

  const query = Query.safeParse(c.req.query());
  if (!query.success) return c.json({ error: query.error.issues[0].message }, 400);

  const page = await listSubscriptions(session.user.id, query.data);
  c.header("X-RateLimit-Remaining", String(usage.remainingPoints));
  return c.json(page);
});

serve({ fetch: app.fetch, hostname: "127.0.0.1", port: Number(process.env.PORT) });
process.on("SIGTERM", () => process.exit(0));
