import type { HttpBindings } from "@hono/node-server";
import type { Charge } from "../limits/charge.ts";

/** What every handler of the API can count on, in Hono's terms. */
export type HonoEnv = {
  Bindings: HttpBindings;
  Variables: {
    requestId: string;
    /** As asked for, or the current one. */
    apiVersion: string;
    /** What the call has been charged so far; not there before its caller is known. */
    charges?: Charge[];
    /** See `door/head.ts`. */
    head?: Record<string, string>;
    isWhole?: boolean;
    hasCookies?: boolean;
  };
};
