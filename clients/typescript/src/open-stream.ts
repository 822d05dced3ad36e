import type { TollgateEvent } from "./event.ts";
import type { Connection } from "./options.ts";
import { responseError } from "./response-error.ts";
import { serverSentEvents } from "./server-sent-events.ts";
import { TollgateError } from "./tollgate-error.ts";

/**
 * The server writes a comment at once, and then every 15 seconds: proxies that hold it back make a stream
 * useless.
 */
export type StreamDeadlines = { firstByteMs: number; silenceMs: number };

/**
 * Yields the events after the one with this id (`null`: those from now on), and without an event as soon as the
 * stream works and with every sign of life. Ends when the server ends it.
 * @throws TollgateError when it is refused, breaks off or falls silent
 */
export async function* openStream(
  { baseUrl, headers, fetch }: Connection,
  after: string | null,
  { firstByteMs, silenceMs }: StreamDeadlines,
  signal: AbortSignal,
): AsyncGenerator<{ id: string; event: TollgateEvent | null }> {
  const request = new AbortController();
  const abort = () => request.abort();
  signal.addEventListener("abort", abort);
  let deadline = setTimeout(abort, firstByteMs);
  let hasBegun = false;
  // The deadline is the server's: it does not run while the program works on an event.
  const onRead = () => {
    if (hasBegun) deadline = setTimeout(abort, silenceMs);
  };
  const onChunk = () => {
    hasBegun = true;
    clearTimeout(deadline);
  };
  try {
    const response = await fetch(`${baseUrl}/api/v2/events/stream`, {
      headers: { ...headers, accept: "text/event-stream", ...(after ? { "last-event-id": after } : {}) },
      signal: request.signal,
    });
    if (!response.ok) throw await responseError(response);
    if (!response.headers.get("content-type")?.startsWith("text/event-stream"))
      throw new TollgateError("The server did not answer with a stream", {
        status: response.status,
        reason: `status_${response.status}`,
      });
    for await (const { id, data } of serverSentEvents(chunksOf(response.body, onRead, onChunk)))
      yield { id, event: data === null ? null : (JSON.parse(data) as TollgateEvent) };
    if (!hasBegun)
      throw new TollgateError("The event stream ended before it began", { status: null, reason: "network" });
  } catch (cause) {
    if (cause instanceof TollgateError || signal.aborted) throw cause;
    throw new TollgateError("The event stream broke off", { status: null, reason: "network", cause });
  } finally {
    clearTimeout(deadline);
    signal.removeEventListener("abort", abort);
    // Whoever stops reading lets go of the connection.
    request.abort();
  }
}

/** Not every browser can iterate over a stream. */
async function* chunksOf(
  body: ReadableStream<Uint8Array> | null,
  onRead: () => void,
  onChunk: () => void,
): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  const reader = body.getReader();
  for (;;) {
    onRead();
    const { done, value } = await reader.read();
    if (done) return;
    onChunk();
    yield value;
  }
}
