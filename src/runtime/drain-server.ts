import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** How long requests in progress may take after the stop. */
const FINISH_WITHIN_MS = 10_000;
/** Connections are accepted until none has been opened for so long: a load balancer needs a while to leave the server out. */
const QUIET_FOR_MS = 200;
/** But no longer than this: clients without a load balancer go on. */
const ACCEPT_FOR_MS = 5_000;
/** How long a connection may stay idle that was accepted just before the stop. */
const SILENT_FOR_MS = 250;

/**
 * To be called before the server listens. The returned function stops accepting connections, and resolves once all
 * requests in progress have finished, or after the deadline, when all connections are destroyed.
 */
export function prepareDrain(server: Server, options: Partial<DrainOptions> = {}): () => Promise<void> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  return () => drain(server, sockets, { ...DEFAULTS, ...options });
}

type DrainOptions = { finishWithinMs: number; quietForMs: number; acceptForMs: number };

const DEFAULTS: DrainOptions = {
  finishWithinMs: FINISH_WITHIN_MS,
  quietForMs: QUIET_FOR_MS,
  acceptForMs: ACCEPT_FOR_MS,
};

async function drain(
  server: Server,
  sockets: ReadonlySet<Socket>,
  { finishWithinMs, ...accepting }: DrainOptions,
): Promise<void> {
  const closeAfterResponse = (_: IncomingMessage, response: ServerResponse) => {
    response.shouldKeepAlive = false;
  };
  server.prependListener("request", closeAfterResponse);
  // Closing at once would reset connections that the kernel has accepted but we have not read.
  await untilNoneComes(server, accepting);
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

async function untilNoneComes(
  server: Server,
  { quietForMs, acceptForMs }: Omit<DrainOptions, "finishWithinMs">,
): Promise<void> {
  const startedAt = performance.now();
  let lastAt = startedAt;
  server.on("connection", () => {
    lastAt = performance.now();
  });
  const leftMs = () => Math.min(lastAt + quietForMs, startedAt + acceptForMs) - performance.now();
  for (let ms = leftMs(); ms > 0; ms = leftMs()) await sleep(ms);
}
