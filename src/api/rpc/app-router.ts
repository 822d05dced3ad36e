import type { appRouter } from "./router.ts";

/** For clients: `createTRPCClient<AppRouter>`. Importing it loads no server code. */
export type AppRouter = typeof appRouter;
