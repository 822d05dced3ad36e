import type { VariableDescription } from "./variable-description.ts";

/** Log, metrics and traces. */
export const OBSERVABILITY_DESCRIPTIONS: readonly VariableDescription[] = [
  {
    names: ["LOG_LEVEL"],
    unset: "`info`",
    meaning: "`debug`, `info`, `warn`, `error` or `silent`",
  },
  {
    names: ["METRICS_TOKEN"],
    unset: "none: no metrics",
    meaning: "the bearer token for `GET /api/metrics` (Prometheus), 16 characters or more",
  },
  {
    names: ["OTEL_EXPORTER_OTLP_ENDPOINT"],
    unset: "none: no traces",
    meaning:
      "the base URL of a collector for OpenTelemetry over HTTP, e.g. `http://localhost:4318`; spans are posted to `/v1/traces` below it, see [observe](../how-to/observe.md)",
  },
  {
    names: ["OTEL_EXPORTER_OTLP_HEADERS"],
    unset: "none",
    meaning: "headers for the collector, `key=value` with commas between them and values percent-encoded",
  },
  {
    names: ["OTEL_EXPORTER_OTLP_PROTOCOL"],
    unset: "`http/protobuf`",
    meaning: "only this one is supported",
  },
  {
    names: ["OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES"],
    unset: "`tollgate`, none",
    meaning: "what traces say about this service; the second is written like the headers",
  },
  {
    names: ["OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG"],
    unset: "`parentbased_always_on`, 1",
    meaning:
      "which traces are exported: `always_on`, `always_off`, `traceidratio` (the second is the share, from 0 to 1), or one of these with `parentbased_` before it, where a caller's `traceparent` decides",
  },
  {
    names: ["OTEL_BSP_SCHEDULE_DELAY"],
    unset: "5000",
    meaning: "milliseconds between two exports of traces",
  },
];
