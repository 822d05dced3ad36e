import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { subscriptionsOfUser } from "../../src/store/subscriptions/subscription-list.ts";
import { openBareDatabase } from "./bare-database.ts";

/**
 * The route without its gate: it believes the header that says who is asking, counts nothing, checks nothing.
 */
const LIMIT = 10;

const database = openBareDatabase();

const app = new Hono();
app.get("/api/ready", (c) => c.json({ status: "ready" }));
app.get("/api/subscriptions", async (c) => {
  const userId = c.req.header("x-user-id") ?? "";
  const rows = await subscriptionsOfUser(database, userId, { before: null, limit: LIMIT + 1 });
  return c.json({
    subscriptions: rows.map(({ atMicros: _, ...subscription }) => subscription),
    nextCursor: null,
  });
});

serve({ fetch: app.fetch, hostname: "127.0.0.1", port: Number(process.env.PORT) });
process.on("SIGTERM", () => process.exit(0));
