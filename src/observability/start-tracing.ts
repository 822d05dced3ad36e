import type { TracingSettings } from "../domain/tracing.ts";
import type { CreatedTracing } from "./create-tracing.ts";
import type { Log } from "./log.ts";

/** `null` without a collector: OpenTelemetry's packages are not even loaded then. */
export async function startTracing(
  settings: TracingSettings | null,
  log: Log,
): Promise<CreatedTracing | null> {
  if (settings === null) return null;
  return (await import("./create-tracing.ts")).createTracing(settings, log);
}
