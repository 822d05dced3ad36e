import { readFile } from "node:fs/promises";
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
 * Loads the built pages. @throws PagesNotBuilt, or the system's error where they cannot be read
 * @param self where this server listens: Next.js fetches the page that an action redirects to there, with the
 * user's cookie
 */
export async function loadNext(project: string, self: { hostname: string; port: number }) {
  await readFile(join(project, ".next/BUILD_ID")).catch((error: NodeJS.ErrnoException) => {
    // Others, such as that this user may not read it, say what to do.
    throw error.code === "ENOENT" ? new PagesNotBuilt() : error;
  });
  // A server that never listens: otherwise Next.js would add a listener for upgrades to ours and leave them
  // unanswered.
  const httpServer = createServer();
  const app = load("next")({ dev: false, dir: project, quiet: true, httpServer, ...self });
  await app.prepare();
  collectGarbage();
  return { handle: app.getRequestHandler(), close: () => app.close() };
}
