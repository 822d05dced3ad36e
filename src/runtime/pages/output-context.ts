import { pageRequests } from "../../app/gate/page-request.ts";

/**
 * The request during which Next.js printed something. `null`: it needs no log entry, because it is about a
 * refusal or an unreadable request, or was logged already under the request's id (its digest).
 */
export function outputContext(output: string): { requestId?: string } | null {
  const request = pageRequests().getStore();
  if (!request) return {};
  return request.isOurFailure() && !output.includes(request.id) ? { requestId: request.id } : null;
}
