import type { IncomingMessage, ServerResponse } from "node:http";
import type { PageRequest } from "../../app/gate/page-request.ts";
import type { RefusalCode } from "../../domain/reasons.ts";
import { statusOf } from "../../http/error-response.ts";

/**
 * Next.js answers 500 to whatever is thrown: to a refusal, and to a call that it cannot read. Neither is a failure of ours.
 */
export function ownFailures(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Pick<PageRequest, "failsAs" | "isOurFailure"> {
  const { method, headers } = incoming;
  // At first it can only be what was sent, where more is sent than an address.
  const isRead = method === "POST" || "next-router-state-tree" in headers;
  let reason: RefusalCode | null = isRead ? "invalid_input" : null;
  const writeHead = outgoing.writeHead.bind(outgoing) as (
    status: number,
    ...rest: unknown[]
  ) => ServerResponse;
  outgoing.writeHead = (status: number, ...rest: unknown[]) => {
    if (status !== 500 || reason === null) return writeHead(status, ...rest);
    // Next.js has stopped reading in the middle: there is no next request to be found behind it.
    if (!incoming.complete) outgoing.setHeader("connection", "close");
    return writeHead(statusOf[reason], ...rest);
  };
  return {
    failsAs: (code) => {
      reason = code;
    },
    isOurFailure: () => reason === null,
  };
}
