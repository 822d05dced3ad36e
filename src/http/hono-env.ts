import type { HttpBindings } from "@hono/node-server";
import type { VersionChoice } from "../domain/api-version.ts";
import type { LimitCharge } from "../limits/charge.ts";

/** The Hono environment of every API handler. */
export type HonoEnv = {
  Bindings: HttpBindings;
  Variables: {
    requestId: string;
    /** The requested version, or the current one. */
    apiVersion: string;
    versionChosenBy: VersionChoice;
    /** Set by routes whose answers differ between versions, see `count-versions.ts`. */
    isRest?: boolean;
    /** Charges of this call so far; absent before the caller is known. */
    charges?: LimitCharge[];
    /** See `response-headers.ts`. */
    head?: Record<string, string>;
    headersApplied?: boolean;
    hasCookies?: boolean;
  };
};
