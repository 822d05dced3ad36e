import type { TracingSettings } from "../domain/tracing.ts";
import type { Values } from "./variables.ts";

export function readTracing(values: Values): TracingSettings | null {
  if (values.OTEL_EXPORTER_OTLP_ENDPOINT === undefined) return null;
  return {
    endpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT,
    headers: values.OTEL_EXPORTER_OTLP_HEADERS ?? {},
    serviceName: values.OTEL_SERVICE_NAME,
    attributes: values.OTEL_RESOURCE_ATTRIBUTES ?? {},
    sampler: { name: values.OTEL_TRACES_SAMPLER, ratio: values.OTEL_TRACES_SAMPLER_ARG },
    scheduleDelayMs: values.OTEL_BSP_SCHEDULE_DELAY,
  };
}
