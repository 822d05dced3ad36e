import type { HttpBindings } from "@hono/node-server";

/** What every handler of the API can count on, in Hono's terms. */
export type ApiEnvironment = { Bindings: HttpBindings; Variables: { requestId: string } };
