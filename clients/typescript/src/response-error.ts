import type { Connection } from "./options.ts";
import { readRetryAfter } from "./retry-delay.ts";
import { TollgateError } from "./tollgate-error.ts";

/** Of a response of the REST API that is not a success. */
export async function responseError(response: Response): Promise<TollgateError> {
  const { status, headers } = response;
  const body = await response.json().catch(() => null);
  const { error, reason, params } = body ?? {};
  return new TollgateError(typeof error === "string" ? error : `The server answered ${status}`, {
    status,
    reason: typeof reason === "string" ? reason : `status_${status}`,
    params: params ?? {},
    retryAfterSeconds: readRetryAfter(headers),
    requestId: headers.get("x-request-id"),
  });
}

/** Where the server cannot be reached, or did not answer in time. */
export function noResponse({ baseUrl }: Pick<Connection, "baseUrl">, cause: unknown): TollgateError {
  return new TollgateError(`No response from ${new URL(baseUrl).origin}`, {
    status: null,
    reason: "network",
    cause,
  });
}
