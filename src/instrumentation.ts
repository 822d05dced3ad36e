import { pageRequests } from "./app/gate/page-request.ts";

/**
 * Next.js calls this with whatever a page or an action throws that nobody has caught. What a page cannot read is in the log
 * already, and has the request's id as its digest.
 */
export function onRequestError(error: unknown): void {
  const request = pageRequests().getStore();
  if (!request?.isOurFailure() || (error as { digest?: string } | null)?.digest === request.id) return;
  request.log.error({ err: error, requestId: request.id }, "a page or an action failed");
}
