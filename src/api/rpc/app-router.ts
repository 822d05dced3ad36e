import type { appRouter } from "./router.ts";

/** For clients: `createTRPCClient<AppRouter>`. Nothing of the server is loaded by importing it. */
export type AppRouter = typeof appRouter;
