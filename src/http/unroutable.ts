import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { RequestError } from "@hono/node-server";
import type { Log } from "../observability/log.ts";

/**
 * Answers requests that never reach the app: an invalid `Host`, none or several, a malformed target, an unknown
 * expectation, not HTTP at all.
 * @param versionHeaders of the current version
 */
export function createUnroutable(versionHeaders: readonly (readonly [string, string])[], log: Log) {
  const headers = (requestId: string) => ({
    "content-type": "application/json",
    "x-request-id": requestId,
    ...Object.fromEntries(versionHeaders),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  return {
    /** The `errorHandler` of @hono/node-server. */
    toResponse: (error: unknown): Response => {
      const requestId = randomUUID();
      const isRequest = error instanceof RequestError;
      if (!isRequest) log.error({ err: error, requestId }, "request failed outside of the app");
      const body = JSON.stringify({ error: isRequest ? "Bad request" : "Internal server error" });
      return new Response(body, { status: isRequest ? 400 : 500, headers: headers(requestId) });
    },

    /** Refuses a request that no handler may see: `isMalformed`. */
    refuse: (outgoing: ServerResponse): void => {
      outgoing.writeHead(400, { ...headers(randomUUID()), connection: "close" });
      outgoing.end(JSON.stringify({ error: "Bad request" }));
    },

    /** For the server's `checkExpectation`: an `Expect` other than `100-continue`. */
    refuseExpectation: (_: IncomingMessage, outgoing: ServerResponse): void => {
      outgoing.writeHead(417, { ...headers(randomUUID()), connection: "close" });
      outgoing.end(JSON.stringify({ error: "Expectation failed" }));
    },

    /**
     * For the server's `clientError`: a client that does not speak HTTP gets a response too, and the
     * connection is closed.
     */
    refuseSocket: (error: NodeJS.ErrnoException, socket: Duplex): void => {
      if (error.code === "ECONNRESET" || !socket.writable) {
        socket.destroy();
        return;
      }
      const status = STATUS_OF[error.code ?? ""] ?? "400 Bad Request";
      const body = JSON.stringify({ error: status.slice(4) });
      const responseHeaders = {
        ...headers(randomUUID()),
        "content-length": Buffer.byteLength(body),
        connection: "close",
      };
      const lines = Object.entries(responseHeaders).map(([name, value]) => `${name}: ${value}`);
      socket.end([`HTTP/1.1 ${status}`, ...lines, "", body].join("\r\n"));
    },
  };
}

const STATUS_OF: Record<string, string> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

/**
 * An absolute-form target with user info: `new Request` throws on it, wherever it is created. Or HTTP/1.1
 * without a `Host`, which @hono/node-server would replace, or several (RFC 9112, section 3.2).
 */
export function isMalformed({ url = "", httpVersion, rawHeaders }: IncomingMessage): boolean {
  const hosts = countHosts(rawHeaders);
  if (hosts > 1 || (hosts === 0 && httpVersion === "1.1")) return true;
  return /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*@/i.test(url);
}

/** Node keeps the first, where a proxy may have gone by the last. @param rawHeaders names and values in turn */
export function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (name.length === 4 && name.toLowerCase() === "host") hosts += 1;
  }
  return hosts;
}
