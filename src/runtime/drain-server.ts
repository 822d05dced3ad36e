import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** How long requests in progress may take after the stop. */
const FINISH_WITHIN_MS = 10_000;
/** How long connections are still accepted that were being opened at the stop. */
const ACCEPT_FOR_MS = 200;
/** How long a connection may stay idle that was accepted just before the stop. */
const SILENT_FOR_MS = 250;

/**
 * To be called before the server listens. The returned function stops accepting connections, and resolves once all
 * requests in progress have finished, or after the deadline, when all connections are destroyed.
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
  // Closing at once would reset connections that the kernel has accepted but we have not read.
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
  // Node's own `close` also stops the timer that checks for stalled requests.
  server.close(() => {});
}
