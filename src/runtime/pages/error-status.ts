import type { IncomingMessage, ServerResponse } from "node:http";
import type { PageRequest } from "../../app/gate/page-request.ts";
import type { RefusalCode } from "../../domain/reason-definition.ts";
import { statusOf } from "../../http/status-of.ts";

/** Next.js responds with 500 to any error. Refusals and unreadable requests get their own status instead. */
export function errorStatus(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Pick<PageRequest, "setErrorStatus" | "isOurFailure"> {
  const { method, headers } = incoming;
  // Before an action or page runs, only the request itself can be invalid.
  const isRead = method === "POST" || "next-router-state-tree" in headers;
  let reason: RefusalCode | null = isRead ? "invalid_input" : null;
  const writeHead = outgoing.writeHead.bind(outgoing) as (
    status: number,
    ...rest: unknown[]
  ) => ServerResponse;
  outgoing.writeHead = (status: number, ...rest: unknown[]) => {
    if (status !== 500 || reason === null) return writeHead(status, ...rest);
    // Next.js has not read the whole body, so the connection cannot be reused.
    if (!incoming.complete) outgoing.setHeader("connection", "close");
    return writeHead(statusOf[reason], ...rest);
  };
  return {
    setErrorStatus: (code) => {
      reason = code;
    },
    isOurFailure: () => reason === null,
  };
}
