import type { IncomingMessage, ServerResponse } from "node:http";
import type { PageRequest } from "../../app/gate/page-request.ts";
import type { RefusalCode } from "../../domain/refusals/reason-definition.ts";
import { UNAVAILABLE_RETRY_AFTER_SECONDS } from "../../http/retry-after.ts";
import { statusOf } from "../../http/status-of.ts";
import type { ErrorDocumentCause } from "./error-document.ts";
import { isDocument } from "./replace-error-document.ts";

/**
 * Next.js responds with 500 to any error. Refusals, unreadable requests and what cannot be served at the
 * moment get their own status instead.
 *
 * @param replaceDocument called before the headers of a document that says nothing without JavaScript
 */
export function errorStatus(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  replaceDocument: (cause: ErrorDocumentCause) => void = () => {},
): Pick<PageRequest, "markParsed" | "setErrorStatus" | "isOurFailure" | "cannotServe" | "setRefusalStatus"> {
  const { method, headers } = incoming;
  // Before an action or page runs, only the request itself can be invalid.
  let isUnparsed = method === "POST" || "next-router-state-tree" in headers;
  let code: RefusalCode | null = null;
  let isUnavailable = false;
  let pageRefusal: RefusalCode | null = null;
  const errorCode = () => (isUnparsed ? "invalid_input" : code);

  // Scripts have a message of their own for it: see src/ui/use-form-action.ts.
  const isOutdatedForm = (status: number): boolean =>
    isFormOfBrowser(incoming) && (outgoing.hasHeader(UNKNOWN_ACTION) || (status === 500 && isUnparsed));

  const replacementFor = (status: number): number => {
    if (isUnavailable && (status === 200 || status === 500)) return statusOf.unavailable;
    if (status === 200 && pageRefusal !== null && isDocument(outgoing)) return statusOf[pageRefusal];
    const refusal = errorCode();
    return status === 500 && refusal !== null ? statusOf[refusal] : status;
  };
  const writeHead = outgoing.writeHead.bind(outgoing) as (
    status: number,
    ...rest: unknown[]
  ) => ServerResponse;
  outgoing.writeHead = (status: number, ...rest: unknown[]) => {
    const sent = replacementFor(status);
    // Where it rendered a page in place of the failed part, its status is not 500.
    if (status === 500 && sent >= 500) replaceDocument("failed");
    if (isOutdatedForm(status)) {
      outgoing.setHeader("content-type", "text/html; charset=utf-8");
      replaceDocument("outdated");
    }
    if (sent === statusOf.unavailable) outgoing.setHeader("retry-after", UNAVAILABLE_RETRY_AFTER_SECONDS);
    // Next.js has not read the whole body, so the connection cannot be reused.
    if (sent !== status && !incoming.complete) outgoing.setHeader("connection", "close");
    return writeHead(sent, ...rest);
  };
  return {
    markParsed: () => {
      isUnparsed = false;
    },
    setErrorStatus: (refusal) => {
      isUnparsed = false;
      code = refusal;
    },
    isOurFailure: () => errorCode() === null,
    cannotServe: () => {
      isUnavailable = true;
    },
    setRefusalStatus: (refusal) => {
      pageRefusal = refusal;
      return true;
    },
  };
}

/** Set by Next.js where this build of the pages lacks the action. */
const UNKNOWN_ACTION = "x-nextjs-action-not-found";

/** Submitted without JavaScript: the browser shows the response as it is. */
function isFormOfBrowser({ method, headers }: Pick<IncomingMessage, "method" | "headers">): boolean {
  const isForm = headers["content-type"]?.startsWith("multipart/form-data") ?? false;
  return method === "POST" && isForm && !("next-action" in headers);
}
