/** OpenTelemetry's names. `parentbased_`: the caller's `traceparent` decides, if there is one. */
export const SAMPLERS = [
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
  "always_on",
  "always_off",
  "traceidratio",
] as const;

export type SamplerName = (typeof SAMPLERS)[number];

/** Where traces go, and which. */
export type TracingSettings = {
  /** The base URL of a collector for OTLP over HTTP, without a slash at the end. */
  endpoint: string;
  headers: Record<string, string>;
  serviceName: string;
  /** Of the service, besides its name. */
  attributes: Record<string, string>;
  sampler: { name: SamplerName; ratio: number };
  /** Between two exports. */
  scheduleDelayMs: number;
};

/** Identifies a span, for links to it. */
export type SpanReference = { traceId: string; spanId: string; traceFlags: number };

export type SpanAttributes = Record<string, string | number | boolean>;

export type Span = {
  reference: SpanReference;
  set(attributes: SpanAttributes): void;
  link(to: SpanReference): void;
  /** @param errorType `null`: it succeeded */
  end(errorType?: string | null): void;
  /** The value of the W3C header `traceparent` for a request that belongs to this span. */
  traceparent(): string;
};

export type SpanOptions = {
  kind: "internal" | "client" | "server";
  /** `active`: the span under way here, if there is one. */
  parent: "active" | "none";
  attributes?: SpanAttributes;
  links?: readonly SpanReference[];
};

/**
 * OpenTelemetry traces, behind an interface of our own: its packages are loaded only where traces are
 * exported. Names and attributes never hold query values, tokens, email addresses or bodies.
 */
export type Tracing = {
  /** The span under way here; `null`: none, it is not sampled, or it has ended. */
  active(): Span | null;
  start(name: string, options: SpanOptions): Span;
  /** Runs `work` in a new span, which ends with it. */
  run<Result>(name: string, options: SpanOptions, work: (span: Span) => Promise<Result>): Promise<Result>;
  /** Names the span of the HTTP request under way here. @param route a template, e.g. `/api/users/:id` */
  setRoute(route: string): void;
};

/** Where nothing is traced, `work` is called with `null`. */
export function traced<Result>(
  tracing: Tracing | null | undefined,
  name: string,
  options: SpanOptions,
  work: (span: Span | null) => Promise<Result>,
): Promise<Result> {
  return tracing ? tracing.run(name, options, work) : work(null);
}
