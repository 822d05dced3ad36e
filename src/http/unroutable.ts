import { randomUUID } from "node:crypto";
import type { Duplex } from "node:stream";
import { RequestError } from "@hono/node-server";
import type { Log } from "../observability/log.ts";

/** For the adapter: the answer to what never became a request of the app's, such as one with an impossible `Host`. */
export function unroutable(log: Log): (error: unknown) => Response {
  return (error) => {
    const requestId = randomUUID();
    const isRequest = error instanceof RequestError;
    if (!isRequest) log.error({ err: error, requestId }, "request failed outside of the app");
    return Response.json(
      { error: isRequest ? "Bad request" : "Internal server error" },
      {
        status: isRequest ? 400 : 500,
        headers: {
          "x-request-id": requestId,
          "cache-control": "no-store",
          "x-content-type-options": "nosniff",
        },
      },
    );
  };
}

const UNREADABLE: Record<string, string> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

/** For the server's `clientError`: what is no HTTP gets an answer too, and the connection is closed. */
export function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = UNREADABLE[error.code ?? ""] ?? "400 Bad Request";
  const body = JSON.stringify({ error: status.slice(4) });
  socket.end(
    [
      `HTTP/1.1 ${status}`,
      "Content-Type: application/json",
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${randomUUID()}`,
      "Cache-Control: no-store",
      "Connection: close",
      "",
      body,
    ].join("\r\n"),
  );
}
