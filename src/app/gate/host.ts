import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Caller } from "../../domain/callers/caller.ts";
import type { Log } from "../../observability/log.ts";
import type { Dependencies } from "../../operations/dependencies.ts";
import type { PageAccounts } from "./page-request.ts";

/** What pages and the API need where Next.js serves them without our server: see `src/serverless.ts`. */
export type Host = {
  /** Responds to a request below `/api`. */
  fetch(request: Request): Promise<Response>;
  /** Resolves when nothing is written or mailed in the background any more. */
  idle(): Promise<void>;
  identify(credentials: {
    header(name: string): string | undefined;
    address: string;
    sessionsOnly: true;
  }): Promise<{
    caller: Caller;
    setCookies: readonly string[];
  }>;
  clientAddress(forwardedFor: string | null): string;
  /** Origins whose pages may write with a user's cookie. */
  ownOrigins(): readonly string[];
  deps: Dependencies;
  accounts: PageAccounts;
  mails: boolean;
  /** The public origin, without a slash at the end. */
  appUrl: string;
  log: Log;
};

/** Set while building for a serverless host; `src/server.ts` needs no host. */
export const isServerless = process.env.TOLLGATE_TARGET === "serverless";

const SHARED = Symbol.for("tollgate.host");

type Shared = { [SHARED]?: Promise<Host> };

/**
 * Started by the first request of an instance. Next.js bundles pages, routes and proxy apart: they share it
 * on `globalThis`.
 */
export function host(): Promise<Host> {
  const shared = globalThis as Shared;
  shared[SHARED] ??= start().catch((error) => {
    // The next request tries again: the database may be reachable by then.
    delete shared[SHARED];
    throw error;
  });
  return shared[SHARED];
}

async function start(): Promise<Host> {
  // Not bundled: Node runs our TypeScript as it is, and plugins and migrations are read from their folders.
  const entry = pathToFileURL(join(/* turbopackIgnore: true */ process.cwd(), "src/serverless.ts")).href;
  const { startHost } = await import(/* turbopackIgnore: true */ entry);
  return startHost(process.env);
}
