import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** How long requests in progress may take once the server has been told to stop. */
const FINISH_WITHIN_MS = 10_000;
/** How long connections are still accepted that were on their way when the server was told to stop. */
const ACCEPT_FOR_MS = 200;
/** How long a connection may stay silent that was accepted just before. */
const SILENT_FOR_MS = 250;

/**
 * To be called before the server listens. What it returns stops accepting, and resolves once every request in progress
 * has been answered, or after the deadline, when all connections are destroyed, whatever has become of them.
 */
export function prepareDrain(
  server: Server,
  { finishWithinMs = FINISH_WITHIN_MS } = {},
): () => Promise<void> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  return () => drain(server, sockets, finishWithinMs);
}

async function drain(server: Server, sockets: ReadonlySet<Socket>, finishWithinMs: number): Promise<void> {
  const closeAfterResponse = (_: IncomingMessage, response: ServerResponse) => {
    response.shouldKeepAlive = false;
  };
  server.prependListener("request", closeAfterResponse);
  // What the kernel has accepted is ours to answer: closing at once would reset it unread.
  await sleep(ACCEPT_FOR_MS);
  await new Promise<void>((resolve) => {
    // Not Node's own `close` for HTTP: it drops connections whose first request has arrived but has not been read yet.
    NetServer.prototype.close.call(server, () => resolve());
    const sweep = setInterval(() => server.closeIdleConnections(), SILENT_FOR_MS);
    const deadline = setTimeout(() => {
      for (const socket of sockets) socket.destroy();
    }, finishWithinMs);
    server.once("close", () => {
      clearInterval(sweep);
      clearTimeout(deadline);
    });
  });
  // Lets go of what Node's own `close` would have: the timer that checks for stalled requests.
  server.close(() => {});
}
