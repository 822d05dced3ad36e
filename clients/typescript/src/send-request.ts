import { fetchInTime } from "./fetch-in-time.ts";
import type { Connection } from "./options.ts";
import { noResponse, responseError } from "./response-error.ts";
import { retryDelayMs } from "./retry-delay.ts";
import { sleep } from "./sleep.ts";
import { TollgateError } from "./tollgate-error.ts";

export type RequestOptions = {
  query?: Record<string, string | number | undefined>;
  /** Sent as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /**
   * Whether it may be sent again when its outcome is not known. `GET`, `HEAD`, `PUT` and `DELETE` may unless
   * said otherwise.
   */
  isRepeatable?: boolean;
};

const REPEATABLE = new Set(["GET", "HEAD", "PUT", "DELETE"]);

/**
 * Sends a request to version 2 of the REST API. Over a limit it waits as long as the server says.
 * @param path below `/api/v2`
 * @throws TollgateError unless the status is 2xx or 304; the signal's reason when it aborts; TypeError for what cannot be
 * sent
 */
export async function sendRequest(
  connection: Connection,
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<Response> {
  const { signal, isRepeatable = REPEATABLE.has(method) } = options;
  for (let attempt = 0; ; attempt += 1) {
    const response = await sendOnce(connection, method, path, options);
    if (!(response instanceof TollgateError) && (response.ok || response.status === 304)) return response;
    const error = response instanceof TollgateError ? response : await responseError(response);
    const { status, retryAfterSeconds } = error;
    const delayMs = retryDelayMs({ attempt, status, retryAfterSeconds, isRepeatable }, connection);
    if (delayMs === null) throw error;
    await sleep(delayMs, signal);
    signal?.throwIfAborted();
  }
}

async function sendOnce(
  connection: Connection,
  method: string,
  path: string,
  { query = {}, body, headers, signal }: RequestOptions,
): Promise<Response | TollgateError> {
  const url = new URL(`${connection.baseUrl}/api/v2/${path.replace(/^\/+/, "")}`);
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.set(name, String(value));
  const contentType = body === undefined ? {} : { "content-type": "application/json" };
  const request: RequestInit = {
    method,
    headers: { ...connection.headers, ...contentType, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
  // Throws for what cannot be sent: the caller's mistake, not a missing response.
  void new Request(url, request);
  try {
    return await fetchInTime(connection, url, { ...request, signal: signal ?? null });
  } catch (cause) {
    signal?.throwIfAborted();
    return noResponse(connection, cause);
  }
}
