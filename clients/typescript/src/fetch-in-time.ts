import type { Connection } from "./options.ts";
import { MAX_TIMER_MS } from "./sleep.ts";

/** Fetches a response with its whole body, within `timeoutMs`. @throws what `fetch` throws */
export async function fetchInTime(
  { fetch, timeoutMs }: Pick<Connection, "fetch" | "timeoutMs">,
  url: string | URL | Request,
  { signal, ...init }: RequestInit,
): Promise<Response> {
  const request = new AbortController();
  const abort = () => request.abort(signal?.reason);
  if (signal?.aborted) abort();
  signal?.addEventListener("abort", abort);
  const expire = () => request.abort(new Error(`no response within ${timeoutMs} ms`));
  const timer = setTimeout(expire, Math.min(timeoutMs, MAX_TIMER_MS));
  try {
    const response = await fetch(url, { ...init, signal: request.signal });
    const bytes = await response.arrayBuffer();
    return new Response(bytes.byteLength === 0 ? null : bytes, response);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}
