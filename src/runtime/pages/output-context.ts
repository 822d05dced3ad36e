import { pageRequests } from "../../app/gate/page-request.ts";

/**
 * The request in which Next.js prints something. `null`: not worth an entry, because it is about a refusal or a request that
 * cannot be read, or in the log already, with the request's id as its digest.
 */
export function outputContext(output: string): { requestId?: string } | null {
  const request = pageRequests().getStore();
  if (!request) return {};
  return request.isOurFailure() && !output.includes(request.id) ? { requestId: request.id } : null;
}
