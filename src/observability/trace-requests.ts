import type { RequestListener } from "node:http";
import {
  type Attributes,
  type Context,
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { type TraceContext, traceContext } from "./trace-context.ts";

/**
 * One server span per HTTP request, from its headers to the end of the response. It holds the route, never
 * the target: that may contain tokens and addresses.
 */
export function traceRequests(tracer: Tracer, listener: RequestListener): RequestListener {
  return (incoming, outgoing) => {
    const span = startRequest(tracer, incoming.method ?? "", incoming.headers.traceparent);
    outgoing.once("close", () => {
      span.end(outgoing.headersSent ? outgoing.statusCode : null, outgoing.writableFinished);
    });
    traceContext.run(span.context, () => listener(incoming, outgoing));
  };
}

/** The same for hosts that pass requests as objects of the web. */
export async function traceFetch(
  tracer: Tracer,
  request: Request,
  respond: () => Promise<Response>,
): Promise<Response> {
  const span = startRequest(tracer, request.method, request.headers.get("traceparent"));
  try {
    const response = await traceContext.run(span.context, respond);
    span.end(response.status, true);
    return response;
  } catch (error) {
    span.end(500, true);
    throw error;
  }
}

type RequestSpan = { context: TraceContext; end(status: number | null, isComplete: boolean): void };

function startRequest(
  tracer: Tracer,
  method: string,
  traceparent: string | string[] | null | undefined,
): RequestSpan {
  const isKnownMethod = METHODS.has(method);
  const attributes: Attributes = {
    "http.request.method": isKnownMethod ? method : "_OTHER",
    "url.scheme": "http",
  };
  if (!isKnownMethod) attributes["http.request.method_original"] = method;
  const nameStart = isKnownMethod ? method : "HTTP";
  const span = tracer.startSpan(nameStart, { kind: SpanKind.SERVER, attributes }, parentOf(traceparent));
  const setRoute = (route: string) => {
    span.updateName(`${nameStart} ${route}`);
    span.setAttribute("http.route", route);
    // Only if no client can have chosen its content.
    if (!/[:*[]/.test(route)) span.setAttribute("url.path", route);
  };
  return {
    context: { span, request: { setRoute } },
    end: (status, isComplete) => {
      if (status !== null) span.setAttribute("http.response.status_code", status);
      // By the semantic conventions, a client's error is not an error of the server.
      if (status !== null && status >= 500) {
        span.setAttribute("error.type", String(status));
        span.setStatus({ code: SpanStatusCode.ERROR });
      } else if (!isComplete) {
        span.setAttribute("error.type", "response_aborted");
      }
      span.end();
    },
  };
}

/** RFC 9110, and PATCH. */
const METHODS = new Set([
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
  "TRACE",
  "CONNECT",
  "QUERY",
]);

/**
 * W3C Trace Context; the version after 00 may add fields. `tracestate` is not read: it would go on to
 * providers.
 */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

function parentOf(traceparent: string | string[] | null | undefined): Context {
  const match = typeof traceparent === "string" ? TRACEPARENT.exec(traceparent.trim()) : null;
  if (match === null) return ROOT_CONTEXT;
  const [, version, traceId = "", spanId = "", flags = "", more] = match;
  const parent = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
  if ((version === "00" && more !== undefined) || !isSpanContextValid(parent)) return ROOT_CONTEXT;
  return trace.setSpan(ROOT_CONTEXT, trace.wrapSpanContext(parent));
}
