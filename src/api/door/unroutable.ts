import { randomUUID } from "node:crypto";
import { RequestError } from "@hono/node-server";
import type { Log } from "../../log.ts";

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
