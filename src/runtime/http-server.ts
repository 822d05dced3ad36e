import { createServer, type RequestListener, type Server } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { limitPipelining } from "../http/limit-pipelining.ts";
import { closeIdleConnections } from "./close-idle-connections.ts";
import { maxOpenFiles } from "./max-open-files.ts";

/** Bounds what slow and hostile clients can hold: connections, and how long a request may take to arrive. */
const HTTP_LIMITS = {
  /** Time for the headers, and for the whole request. */
  arriveWithinMs: 15_000,
  checkEveryMs: 2_000,
  /**
   * Longer than proxies (60 s at nginx and AWS) and most clients keep an idle connection: a shorter time
   * would close some while a webhook is on its way, which would then be reset.
   */
  idleForMs: 75_000,
  /** How long a client may read nothing while its response waits. */
  stalledTimeoutMs: 60_000,
  /** Once the server is full, whoever has read less than this of a response for so long makes room for others. */
  slowBytes: 64 * 1024,
  slowForMs: 60_000,
  /** Looking at all connections costs more than turning one away. */
  makeRoomEveryMs: 100,
  /**
   * Further ones are closed at once: a process cannot serve more, even if the system allows more open files.
   */
  maxConnections: 8_192,
  /** Open files for the database, Redis, providers and endpoints: at most half of those that the system allows. */
  otherFiles: 256,
} as const;

/**
 * A server without a listener for upgrades, so that Node ignores the `Upgrade` header. The listener also gets
 * requests without a `Host`, as Node would answer them without our headers.
 * @param refuseSocket for input that is not HTTP
 */
export function createHttpServer(
  listener: RequestListener,
  refuseSocket: (error: NodeJS.ErrnoException, socket: Duplex) => void,
  slowForMs: number = HTTP_LIMITS.slowForMs,
): Server {
  const server = createServer(
    {
      headersTimeout: HTTP_LIMITS.arriveWithinMs,
      requestTimeout: HTTP_LIMITS.arriveWithinMs,
      connectionsCheckingInterval: HTTP_LIMITS.checkEveryMs,
      keepAliveTimeout: HTTP_LIMITS.idleForMs,
      requireHostHeader: false,
    },
    closeStalledResponses(limitPipelining(listener)),
  );
  server.timeout = HTTP_LIMITS.stalledTimeoutMs;
  server.maxConnections = maxConnections();
  server.on("drop", makeRoom(server, slowForMs));
  server.on("clientError", refuseSocket);
  return server;
}

/** Once no more files can be opened, the system drops new connections before idle ones can be closed for them. */
function maxConnections(): number {
  const files = maxOpenFiles();
  if (files === null) return HTTP_LIMITS.maxConnections;
  const forClients = Math.max(files - HTTP_LIMITS.otherFiles, Math.floor(files / 2));
  return Math.min(HTTP_LIMITS.maxConnections, forClients);
}

/**
 * When the server is full, closes idle connections in favour of new ones, and those whose clients have read less than
 * `slowBytes` of what waits for them within `slowForMs`: one that reads a few bytes a minute has not stopped reading, and
 * would keep its place for ever.
 */
function makeRoom(server: Server, slowForMs: number): () => void {
  const connections = new Set<Socket>();
  server.on("connection", (socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
  });
  const progress = new WeakMap<Socket, { sinceMs: number; untilRead: number }>();
  let checkedAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (now - checkedAtMs < HTTP_LIMITS.makeRoomEveryMs) return;
    checkedAtMs = now;
    closeIdleConnections(server, connections);
    for (const socket of connections) {
      const read = takenBytes(socket);
      const known = progress.get(socket);
      if (known === undefined || read >= known.untilRead)
        progress.set(socket, {
          sinceMs: now,
          untilRead: Math.min(socket.bytesWritten, read + HTTP_LIMITS.slowBytes),
        });
      else if (now - known.sinceMs >= slowForMs) socket.destroy();
    }
  };
}

/** What the system has taken: `writableLength` counts a write in full until all of it has been. */
function takenBytes(socket: Socket): number {
  const { _handle: handle } = socket as unknown as {
    _handle: { bytesWritten: number; writeQueueSize: number } | null;
  };
  return handle ? handle.bytesWritten - handle.writeQueueSize : socket.bytesWritten;
}

/**
 * Closes the connection of a client that stops reading its response, and would keep it for ever. Node would
 * also close that of a client which has read everything, and waits for us.
 */
function closeStalledResponses(listener: RequestListener): RequestListener {
  return (incoming, outgoing) => {
    outgoing.on("timeout", (socket: Socket) => {
      if (socket.writableLength > 0) socket.destroy();
    });
    listener(incoming, outgoing);
  };
}
