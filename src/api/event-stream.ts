import { type Context, Hono } from "hono";
import { Refusal, type RefusalFacts, refuse } from "../domain/refusals/refusal.ts";
import type { HonoEnv } from "../http/hono-env.ts";
import { limitHeaders } from "../http/limit-headers.ts";
import { openStreams } from "../limits/open-streams.ts";
import type { Call } from "../operations/call.ts";
import type { Dependencies } from "../operations/dependencies.ts";
import { streamEvents } from "../operations/events/stream-events.ts";
import { execute } from "../operations/operation.ts";
import { authenticate, type CallerContext } from "./authenticate.ts";
import { inputReader } from "./rest/input.ts";
import { route } from "./rest/route.ts";

/** Per process. */
const MAX_STREAMS_PER_KEY = 5;
const RETRY_AFTER_SECONDS = 15;
/** How often a comment is sent, so that no proxy closes the connection, and the key is checked again. */
const HEARTBEAT_MS = 15_000;

const HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  // Proxies such as nginx would hold events back.
  "x-accel-buffering": "no",
};

/** `GET /events/stream`: events as server-sent events, for service keys. */
export function eventStream(
  deps: Dependencies,
  callers: CallerContext,
  heartbeatMs = HEARTBEAT_MS,
): Hono<HonoEnv> {
  const routes = new Hono<HonoEnv>();
  const open = openStreams(MAX_STREAMS_PER_KEY);
  const readInput = inputReader(route("GET", "/events/stream", streamEvents));
  routes.get("/events/stream", async (c) => {
    c.set("isRest", true);
    const call = await authenticate(c, callers);
    const { after, isGiven } = await execute(streamEvents, deps, call, async () => ({
      ...((await readInput({ params: {}, queries: c.req.queries(), readBody: async () => ({}) })) as object),
      ...lastEventId(c),
    })).catch((error: unknown) => {
      throw namedAsSent(c, error);
    });
    const headers = { ...HEADERS, ...limitHeaders(call.charges) };
    if (c.req.method === "HEAD") return c.body(null, 200, headers);
    const { caller } = call;
    if (caller.kind !== "service") refuse({ reason: "forbidden" });
    const close =
      open.take(caller.keyId) ??
      refuse({ reason: "rate_limited", params: { retryAfterSeconds: RETRY_AFTER_SECONDS } });
    const body = sseStream({
      eventsAfter: (id, signal) => deps.eventFeed.after(id, signal),
      isAllowed: () => isAllowed(call),
      after,
      isGiven,
      close,
      heartbeatMs,
      signal: c.req.raw.signal,
    });
    return c.newResponse(body, 200, headers);
  });
  return routes;
}

/** Clients that reconnect send it together with the query string of their first request. */
function lastEventId(c: Context<HonoEnv>): { after?: string } {
  const id = c.req.header("last-event-id");
  return id ? { after: id } : {};
}

/** A refused `after` names the header that it came from. */
function namedAsSent(c: Context<HonoEnv>, error: unknown): unknown {
  if (!(error instanceof Refusal) || error.field !== "after" || lastEventId(c).after === undefined)
    return error;
  const { reason, params } = error;
  return new Refusal({ reason, params, field: "Last-Event-ID" } as RefusalFacts);
}

/** Whether the key is still valid. While the database is away, it counts as valid. */
async function isAllowed({ identified }: Call): Promise<boolean> {
  try {
    const caller = await identified?.again();
    return caller?.kind === "service" && caller.permissions.includes("events:read");
  } catch (error) {
    return !(error instanceof Refusal && error.code === "unauthorized");
  }
}

type StreamOptions = {
  eventsAfter: Dependencies["eventFeed"]["after"];
  isAllowed(): Promise<boolean>;
  /** The id of the event after which it begins. */
  after: string;
  isGiven: boolean;
  close(): void;
  heartbeatMs: number;
  signal: AbortSignal;
};

/**
 * Ends when the feed does, and once the key is no longer valid; the client then reconnects, or is refused.
 */
function sseStream(options: StreamOptions): ReadableStream<Uint8Array> {
  const { heartbeatMs, isAllowed } = options;
  const encoder = new TextEncoder();
  const ending = new AbortController();
  let { after } = options;
  let timer: NodeJS.Timeout | undefined;

  const release = () => {
    clearTimeout(timer);
    ending.abort();
    options.close();
  };
  const end = (controller: ReadableStreamDefaultController) => {
    release();
    controller.close();
  };
  options.signal.addEventListener("abort", release, { once: true });
  return new ReadableStream<Uint8Array>({
    start: (controller) => {
      // Not every host cancels what it cannot send any more.
      if (options.signal.aborted) return end(controller);
      // Whoever is disconnected before the first event continues from here.
      const begin = options.isGiven ? "" : `id: ${after}\n`;
      controller.enqueue(encoder.encode(`: connected\n${begin}\n`));
      const sendHeartbeat = async () => {
        const isStillAllowed = await isAllowed();
        if (ending.signal.aborted) return;
        if (!isStillAllowed) return end(controller);
        // Not sent to a client that does not read: its events would fill the memory.
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(": keep-alive\n\n"));
        timer = setTimeout(sendHeartbeat, heartbeatMs);
      };
      timer = setTimeout(sendHeartbeat, heartbeatMs);
    },
    pull: async (controller) => {
      const events = await options.eventsAfter(after, ending.signal).catch(() => null);
      const last = events?.at(-1);
      // What has happened since the key was revoked is not for its holder.
      const isStillAllowed = last !== undefined && (await isAllowed());
      if (ending.signal.aborted) return;
      if (!events || !last || !isStillAllowed) return end(controller);
      after = last.id;
      controller.enqueue(encoder.encode(events.map(message).join("")));
    },
    cancel: release,
  });
}

function message(event: { id: string; type: string; body: string }): string {
  return `id: ${event.id}\nevent: ${event.type}\ndata: ${event.body}\n\n`;
}
