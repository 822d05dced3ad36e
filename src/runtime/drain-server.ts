import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import { setImmediate as afterReading, setTimeout as sleep } from "node:timers/promises";
import { closeIdleConnections } from "./close-idle-connections.ts";

/** How long requests in progress may take after the stop. */
const FINISH_WITHIN_MS = 10_000;
/** Connections are accepted until none has been opened for so long. */
const QUIET_FOR_MS = 200;
/** At most this long: clients without a load balancer keep connecting. */
const ACCEPT_FOR_MS = 5_000;
/** How long a load balancer may take to notice that the server is not ready. */
export const NOTICE_WITHIN_MS = 3_000;
/** How long the last connection may take to send its request. Until then no idle one is closed. */
const SILENT_FOR_MS = 1_000;
const SWEEP_EVERY_MS = 250;

/**
 * To be called before the server listens. The returned function stops accepting connections, and resolves
 * once all requests in progress have finished, or after the deadline, when all connections are destroyed.
 */
export function prepareDrain(server: Server, options: Partial<DrainOptions>): () => Promise<void> {
  const connections: Connections = { open: new Set(), lastAtMs: Number.NEGATIVE_INFINITY };
  server.on("connection", (socket) => {
    connections.lastAtMs = performance.now();
    connections.open.add(socket);
    socket.once("close", () => connections.open.delete(socket));
  });
  return () => drain(server, connections, { ...DEFAULTS, ...options });
}

type Connections = { open: Set<Socket>; lastAtMs: number };

type DrainOptions = {
  finishWithinMs: number;
  quietForMs: number;
  acceptAtLeastMs: number;
  acceptForMs: number;
  silentForMs: number;
};

const DEFAULTS: DrainOptions = {
  finishWithinMs: FINISH_WITHIN_MS,
  quietForMs: QUIET_FOR_MS,
  acceptAtLeastMs: 0,
  acceptForMs: ACCEPT_FOR_MS,
  silentForMs: SILENT_FOR_MS,
};

async function drain(
  server: Server,
  connections: Readonly<Connections>,
  { finishWithinMs, silentForMs, ...accepting }: DrainOptions,
): Promise<void> {
  const closeAfterResponse = (_: IncomingMessage, response: ServerResponse) => {
    response.shouldKeepAlive = false;
  };
  server.prependListener("request", closeAfterResponse);
  // Closing at once would reset connections that the kernel has accepted but we have not read.
  await untilNoneComes(connections, accepting);
  await new Promise<void>((resolve) => {
    // Not Node's own `close` for HTTP: it drops connections whose first request has arrived but has not been
    // read yet.
    NetServer.prototype.close.call(server, () => resolve());
    const sweep = setInterval(async () => {
      if (performance.now() < connections.lastAtMs + silentForMs) return;
      await afterReading();
      closeIdleConnections(server, connections.open);
    }, SWEEP_EVERY_MS);
    const deadline = setTimeout(() => {
      for (const socket of connections.open) socket.destroy();
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
  connections: Readonly<Connections>,
  { quietForMs, acceptAtLeastMs, acceptForMs }: Omit<DrainOptions, "finishWithinMs" | "silentForMs">,
): Promise<void> {
  const startedAt = performance.now();
  const leftMs = () => {
    const quietAt = Math.max(connections.lastAtMs, startedAt) + quietForMs;
    const earliestAt = Math.max(quietAt, startedAt + acceptAtLeastMs);
    return Math.min(earliestAt, startedAt + acceptForMs) - performance.now();
  };
  do {
    await sleep(Math.max(leftMs(), 0));
    // After a stall, timers run before the connections that arrived meanwhile are accepted.
    await afterReading();
  } while (leftMs() > 0);
}
