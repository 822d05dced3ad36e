import { serve } from "@hono/node-server";
import { initTRPC } from "@trpc/server";
import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { Hono } from "hono";
import superjson from "superjson";
import { z } from "zod";
import { pageOfNotifications } from "./bare-page.ts";

/** tRPC as its documentation sets it up, without a gate: it believes the header that says who is asking. */
const trpc = initTRPC.context<{ userId: string }>().create({ transformer: superjson });

const Page = z.object({
  limit: z.int().min(1).max(100).default(20),
  cursor: z.string().nullable().default(null),
});

const router = trpc.router({
  notifications: {
    list: trpc.procedure.input(Page).query(({ ctx, input }) => pageOfNotifications(ctx.userId, input)),
  },
});

const app = new Hono();
app.get("/api/ready", (c) => c.json({ status: "ready" }));
app.use("/api/trpc/*", (c) =>
  fetchRequestHandler({
    endpoint: "/api/trpc",
    req: c.req.raw,
    router,
    createContext: ({ req }) => ({ userId: req.headers.get("x-user-id") ?? "" }),
  }),
);

serve({ fetch: app.fetch, hostname: "127.0.0.1", port: Number(process.env.PORT) });
process.on("SIGTERM", () => process.exit(0));
