import type { RequestListener } from "node:http";
import {
  type Link,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { defaultResource, resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { Refusal } from "../domain/refusals/refusal.ts";
import type { Span, SpanOptions, SpanReference, Tracing, TracingSettings } from "../domain/tracing.ts";
import type { Log } from "./log.ts";
import { reportingExporter } from "./reporting-exporter.ts";
import { createSampler } from "./sampler.ts";
import { traceContext } from "./trace-context.ts";
import { traceFetch, traceRequests } from "./trace-requests.ts";

export type CreatedTracing = Tracing & {
  /** One span per request that the listener answers. */
  traceRequests(listener: RequestListener): RequestListener;
  /** The same for hosts that pass requests as objects of the web. */
  traceFetch(request: Request, respond: () => Promise<Response>): Promise<Response>;
  /** Exports what has ended. Never throws, and takes 5 s at most. */
  flush(): Promise<void>;
  /** The same, and nothing is exported afterwards. */
  close(): Promise<void>;
};

/** A collector that does not answer must not hold up the next export, or the end of the process. */
const EXPORT_TIMEOUT_MS = 4_000;
/** Longer than an export, so that the exporter reports the reason first. */
const FLUSH_TIMEOUT_MS = 5_000;

/** Loads OpenTelemetry's packages: import this file only where traces are exported. */
export function createTracing(options: TracingSettings, log: Log): CreatedTracing {
  const exporter = new OTLPTraceExporter({
    url: `${options.endpoint}/v1/traces`,
    headers: options.headers,
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const provider = new TracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({ ...options.attributes, "service.name": options.serviceName }),
    ),
    sampler: createSampler(options.sampler),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: reportingExporter(exporter, log),
        scheduledDelayMillis: options.scheduleDelayMs,
        exportTimeoutMillis: FLUSH_TIMEOUT_MS,
      }),
    ],
  });
  const tracer = provider.getTracer("tollgate");
  const start = (name: string, spanOptions: SpanOptions) => startSpan(tracer, name, spanOptions);
  return {
    active: () => {
      const span = traceContext.getStore()?.span;
      return span?.isRecording() ? wrapSpan(span) : null;
    },
    start: (name, spanOptions) => wrapSpan(start(name, spanOptions)),
    run: async (name, spanOptions, work) => {
      const otelSpan = start(name, spanOptions);
      const span = wrapSpan(otelSpan);
      const request = spanOptions.parent === "active" ? (traceContext.getStore()?.request ?? null) : null;
      try {
        const result = await traceContext.run({ span: otelSpan, request }, () => work(span));
        span.end();
        return result;
      } catch (error) {
        if (error instanceof Refusal) span.set({ "tollgate.refusal": error.code });
        // A refusal is an expected outcome, not an error.
        span.end(error instanceof Refusal ? null : errorType(error));
        throw error;
      }
    },
    setRoute: (route) => traceContext.getStore()?.request?.setRoute(route),
    traceRequests: (listener) => traceRequests(tracer, listener),
    traceFetch: (request, respond) => traceFetch(tracer, request, respond),
    flush: () => withinTimeout(provider.forceFlush({ timeoutMillis: FLUSH_TIMEOUT_MS })),
    close: () => withinTimeout(provider.shutdown()),
  };
}

function startSpan(
  tracer: Tracer,
  name: string,
  { parent, kind, attributes = {}, links = [] }: SpanOptions,
): OtelSpan {
  const active = parent === "active" ? traceContext.getStore() : undefined;
  const context = active === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, active.span);
  return tracer.startSpan(name, { kind: KINDS[kind], attributes, links: links.map(linkTo) }, context);
}

const KINDS = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT, server: SpanKind.SERVER } as const;

function linkTo(context: SpanReference): Link {
  return { context };
}

function wrapSpan(span: OtelSpan): Span {
  const reference = span.spanContext();
  return {
    reference,
    set: (attributes) => void span.setAttributes(attributes),
    link: (to) => void span.addLink(linkTo(to)),
    end: (type = null) => {
      if (type !== null) {
        span.setAttribute("error.type", type);
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    },
    traceparent: () => {
      const flags = reference.traceFlags.toString(16).padStart(2, "0");
      return `00-${reference.traceId}-${reference.spanId}-${flags}`;
    },
  };
}

/** Class or code only: a message may quote data. */
function errorType(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? code : error.name;
}

async function withinTimeout(work: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, FLUSH_TIMEOUT_MS);
  // Failures are logged by the exporter.
  work.then(resolve, () => resolve());
  await promise;
  clearTimeout(timer);
}
