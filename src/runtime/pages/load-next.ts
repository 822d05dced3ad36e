import { existsSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";

// Not imported: its types would declare browsers' globals for the whole server.
const load = createRequire(import.meta.url) as (name: "next") => (options: object) => NextApp;

type NextApp = { prepare(): Promise<void>; getRequestHandler(): NextHandler; close(): Promise<void> };

type NextHandler = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

/** The message is for the operator. */
class PagesNotBuilt extends Error {
  override name = "PagesNotBuilt";
  override message = "the pages have not been built: start with script/server, or run npm run build";
}

/**
 * The built pages, ready to answer. @throws PagesNotBuilt
 * @param self where this server listens: Next.js asks there, with the person's cookie, for the page that an action leads to
 */
export async function loadNext(project: string, self: { hostname: string; port: number }) {
  if (!existsSync(join(project, ".next/BUILD_ID"))) throw new PagesNotBuilt();
  // A server that never listens: left to itself, Next.js adds a listener for upgrades to ours, which answers none of them.
  const httpServer = createServer();
  const app = load("next")({ dev: false, dir: project, quiet: true, httpServer, ...self });
  await app.prepare();
  return { handle: app.getRequestHandler(), close: () => app.close() };
}
