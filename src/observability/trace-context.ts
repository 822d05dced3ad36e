import { AsyncLocalStorage } from "node:async_hooks";
import type { Span } from "@opentelemetry/api";

/** The span and the request of this asynchronous context. */
export type TraceContext = {
  span: Span;
  /** Of the HTTP request that the span belongs to; `null`: none. */
  request: { setRoute(route: string): void } | null;
};

/**
 * Ours alone: with a global provider, Next.js and other libraries would export queries and addresses as
 * attributes.
 */
export const traceContext = new AsyncLocalStorage<TraceContext>();

/** Fields for log entries, named as OpenTelemetry names them. */
export function traceFields(): { trace_id?: string; span_id?: string } {
  const active = traceContext.getStore();
  if (active === undefined) return {};
  const { traceId, spanId } = active.span.spanContext();
  return { trace_id: traceId, span_id: spanId };
}
