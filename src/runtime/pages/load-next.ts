import { existsSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { collectGarbage } from "../collect-garbage.ts";

// Not imported: its types would declare browser globals for the whole server.
const load = createRequire(import.meta.url) as (name: "next") => (options: object) => NextApp;

type NextApp = { prepare(): Promise<void>; getRequestHandler(): NextHandler; close(): Promise<void> };

type NextHandler = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

/** The message is for the operator. */
class PagesNotBuilt extends Error {
  override name = "PagesNotBuilt";
  override message = "the pages have not been built: start with script/server, or run npm run build";
}

/**
 * Loads the built pages. @throws PagesNotBuilt
 * @param self where this server listens: Next.js fetches the page that an action redirects to there, with the
 * user's cookie
 */
export async function loadNext(project: string, self: { hostname: string; port: number }) {
  if (!existsSync(join(project, ".next/BUILD_ID"))) throw new PagesNotBuilt();
  // A server that never listens: otherwise Next.js would add a listener for upgrades to ours and leave them
  // unanswered.
  const httpServer = createServer();
  const app = load("next")({ dev: false, dir: project, quiet: true, httpServer, ...self });
  await app.prepare();
  collectGarbage();
  return { handle: app.getRequestHandler(), close: () => app.close() };
}
