import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Server as NetServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** How long requests in progress may take once the server has been told to stop. */
const FINISH_WITHIN_MS = 25_000;
/** How long connections are still taken that were on their way when the server was told to stop. */
const ACCEPT_FOR_MS = 200;
/** How long a connection may stay silent that was accepted just before. */
const SILENT_FOR_MS = 250;

/**
 * Stops accepting, and resolves once every request that was under way has been answered. Node's own `close` drops
 * connections whose first request has arrived but has not been read yet; under load those are many.
 */
export async function drainServer(server: Server): Promise<void> {
  const closeAfterAnswer = (_: IncomingMessage, response: ServerResponse) => {
    response.shouldKeepAlive = false;
  };
  server.prependListener("request", closeAfterAnswer);
  // What the kernel has accepted already is ours to answer: closing the door now would reset it unread.
  await sleep(ACCEPT_FOR_MS);
  await new Promise<void>((resolve) => {
    NetServer.prototype.close.call(server, () => resolve());
    const sweep = setInterval(() => server.closeIdleConnections(), SILENT_FOR_MS);
    const deadline = setTimeout(() => server.closeAllConnections(), FINISH_WITHIN_MS);
    server.once("close", () => {
      clearInterval(sweep);
      clearTimeout(deadline);
    });
  });
  // Lets go of what Node's own `close` would have: the timer that checks for stalled requests.
  server.close(() => {});
}
