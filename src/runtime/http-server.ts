import { createServer, type RequestListener, type Server } from "node:http";
import type { Duplex } from "node:stream";
import { limitPipelining } from "../http/limit-pipelining.ts";

/** Bounds what slow and hostile clients can hold: connections, and how long a request may take to arrive. */
const HTTP_LIMITS = {
  /** Of a request's headers, and of all of it. */
  arriveWithinMs: 15_000,
  checkEveryMs: 2_000,
  /** More are closed at once: a process can serve no more at a time, whatever its system's limit of open files. */
  maxConnections: 8_192,
} as const;

/**
 * A server without listener for upgrades, so that Node treats such a request as one without them.
 * @param refuseSocket for what is no HTTP
 */
export function createHttpServer(
  listener: RequestListener,
  refuseSocket: (error: NodeJS.ErrnoException, socket: Duplex) => void,
): Server {
  const server = createServer(
    {
      headersTimeout: HTTP_LIMITS.arriveWithinMs,
      requestTimeout: HTTP_LIMITS.arriveWithinMs,
      connectionsCheckingInterval: HTTP_LIMITS.checkEveryMs,
    },
    limitPipelining(listener),
  );
  server.maxConnections = HTTP_LIMITS.maxConnections;
  server.on("clientError", refuseSocket);
  return server;
}
